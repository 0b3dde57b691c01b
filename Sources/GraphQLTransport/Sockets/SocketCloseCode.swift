/// Why a socket is closed, with the code the protocol names.
public enum SocketCloseCode: UInt16, Sendable, Hashable {
    /// All is done (RFC 6455 §7.4.1).
    case normal = 1000
    /// The server stops, or the peer leaves (RFC 6455 §7.4.1).
    case goingAway = 1001
    /// The peer broke the framing.
    case protocolError = 1002
    /// The peer sent a kind of message we do not take.
    case unsupportedData = 1003
    /// A message is not the text it says it is.
    case invalidPayload = 1007
    /// A message is larger than we take.
    case messageTooBig = 1009
    /// The peer does not read, or we have too much to do; it may come again later.
    case tryAgainLater = 1013
    /// A message is not one of the protocol's (graphql-transport-ws).
    case badRequest = 4400
    /// There are no credentials, or an operation came before the acknowledgement.
    case unauthorized = 4401
    /// The credentials are bad or have ended.
    case forbidden = 4403
    /// None of the offered subprotocols is spoken here.
    case subprotocolNotAcceptable = 4406
    /// The client did not introduce itself in time.
    case initialisationTimeout = 4408
    /// An operation of this id runs already.
    case subscriberExists = 4409
    /// The client introduced itself twice, or sends more messages than it may.
    case tooManyRequests = 4429
    /// Something of ours failed that no operation is to blame for.
    case internalServerError = 4500
}

extension SessionAction {
    /// Closes with a reason cut to what a close frame holds.
    public static func close(_ code: SocketCloseCode, _ reason: String) -> SessionAction {
        .close(code: code.rawValue, reason: SocketCloseCode.reason(reason))
    }
}

extension SocketCloseCode {
    /// The text, cut at a character boundary to the 123 bytes a close frame holds.
    static func reason(_ text: String) -> String {
        guard text.utf8.count > 123 else { return text }
        var kept = ""
        var size = 0
        for character in text {
            size += character.utf8.count
            guard size <= 120 else { break }
            kept.append(character)
        }
        return kept + "…"
    }
}
