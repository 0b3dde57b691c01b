/// How an answer table judges one answer.
enum AnswerDecision: Sendable, Hashable {
    case settled(PushResult)
    /// Send again at once after the action; if that was tried already, settle with the other result.
    case again(RetryAction, otherwise: PushResult)
}

/// What to do before a push is sent again at once.
enum RetryAction: Sendable, Hashable {
    /// Nothing: the peer did not look at it.
    case none
    case newConnection
    /// Use a connection beside the usual ones, for one host of many may be in trouble.
    case otherConnection
    case newCredential
    /// Make no new credential for a while; the connection has seen another one.
    case heldCredential
    case smallerPayload
}
