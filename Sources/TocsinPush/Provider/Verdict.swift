/// How an answer table judges one answer.
enum Verdict: Sendable, Hashable {
    case settled(PushResult)
    /// Send again at once after the remedy; if that was tried already, settle with the other result.
    case again(Remedy, otherwise: PushResult)
}

/// What to do before a push is sent again at once.
enum Remedy: Sendable, Hashable {
    /// Nothing: the peer did not look at it.
    case none
    case newConnection
    case newCredential
    case smallerPayload
}
