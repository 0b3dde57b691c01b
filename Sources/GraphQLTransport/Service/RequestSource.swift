/// Where a request came from, for what the service notes of changes.
public struct RequestSource: Sendable, Hashable {
    /// The client's address; `nil` where it is not known.
    public var remoteAddress: String?
    /// The connection's number, the first half of the request's id in the log.
    public var connection: Int
    /// The request's number on its connection, the other half.
    public var number: Int

    /// A source of these parts.
    public init(remoteAddress: String?, connection: Int, number: Int) {
        self.remoteAddress = remoteAddress
        self.connection = connection
        self.number = number
    }
}
