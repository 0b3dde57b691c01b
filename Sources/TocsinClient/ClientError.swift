public import JSON

/// Why something asked of a server could not be done.
public struct ClientError: Error, Sendable, CustomStringConvertible {
    /// What kind of failure it is, for programs: the server's own code where it gave one,
    /// else one of the client's.
    ///
    /// New codes may come; a `switch` over them needs a `default`.
    public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The code's text, as `BAD_CURSOR`.
        public let rawValue: String

        /// A code of this text.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The code's text.
        public var description: String { rawValue }

        /// The server's address is no address.
        public static let badAddress = Code(rawValue: "BAD_ADDRESS")
        /// The server could not be reached, or the connection to it was lost.
        public static let connectionFailed = Code(rawValue: "CONNECTION_FAILED")
        /// The server did not answer in time.
        public static let timedOut = Code(rawValue: "TIMED_OUT")
        /// What answered does not speak as a Tocsin server does.
        public static let badAnswer = Code(rawValue: "BAD_ANSWER")
        /// There is no such topic, or it belongs to somebody else.
        public static let topicNotFound = Code(rawValue: "TOPIC_NOT_FOUND")
        /// Several topics have this name.
        public static let topicAmbiguous = Code(rawValue: "TOPIC_AMBIGUOUS")
        /// The provider of tokens says that nobody is signed in, or gave another user's token.
        public static let signedOut = Code(rawValue: "SIGNED_OUT")
        /// The task that asked was cancelled.
        public static let cancelled = Code(rawValue: "CANCELLED")
        /// There is no token, or it is not valid any more.
        public static let unauthenticated = Code(rawValue: "UNAUTHENTICATED")
        /// The token does not allow it.
        public static let unauthorized = Code(rawValue: "UNAUTHORIZED")
        /// The same id or key was used before for something else.
        public static let conflict = Code(rawValue: "CONFLICT")
        /// The cursor was changed or belongs to another topic.
        public static let badCursor = Code(rawValue: "BAD_CURSOR")
        /// What follows the cursor is not kept any more.
        public static let cursorExpired = Code(rawValue: "CURSOR_EXPIRED")
        /// A device's proof is missing or does not hold; a new challenge helps.
        public static let proofRefused = Code(rawValue: "PROOF_REFUSED")
        /// The signer of a registration failed; its error is the cause.
        public static let signingFailed = Code(rawValue: "SIGNING_FAILED")
        /// The request as a whole is wrong.
        public static let badRequest = Code(rawValue: "BAD_REQUEST")
        /// The server cannot serve now.
        public static let unavailable = Code(rawValue: "UNAVAILABLE")
        /// The server gave up because it took too long.
        public static let timeout = Code(rawValue: "TIMEOUT")
        /// The server failed.
        public static let `internal` = Code(rawValue: "INTERNAL")
    }

    /// What kind of failure it is, for programs.
    public let code: Code
    /// What happened and what to do, for people.
    public let message: String
    /// The failure below this one, where there is one.
    public let cause: (any Error)?

    /// With `BAD_CURSOR` and `CURSOR_EXPIRED` the oldest cursor that the server can
    /// honour, where there is one.
    public let oldestCursor: String?

    /// How long the server asks to wait before another attempt, where it says so.
    public let retryAfter: Duration?

    /// The field of the answer that it is about, such as `createMessage` or `items.3.title`.
    public let path: String?

    /// With `CONFLICT`, `CONDITION_FAILED` and `VERSION_CONFLICT` what is stored, as the mutation
    /// selected it, for who may read it.
    public let storedRow: JSONValue?

    /// An error of these parts.
    public init(
        _ code: Code,
        _ message: String,
        cause: (any Error)? = nil,
        oldestCursor: String? = nil,
        retryAfter: Duration? = nil,
        path: String? = nil,
        storedRow: JSONValue? = nil
    ) {
        self.code = code
        self.message = message
        self.cause = cause
        self.oldestCursor = oldestCursor
        self.retryAfter = retryAfter
        self.path = path
        self.storedRow = storedRow
    }

    /// The message with its code.
    public var description: String { "\(message) (\(code))" }

    static let cancelled = ClientError(.cancelled, "The task was cancelled.")
    static let signedOut = ClientError(.signedOut, "Nobody is signed in.")
}
