/// Where a request came from, for what the service notes of changes.
public struct RequestSource: Sendable, Hashable {
    /// The client's address; `nil` where it is not known.
    public var remoteAddress: String?
    /// The request's id, as in the log and in `X-Request-Id`; `nil` where it has none.
    public var id: String?
    /// Whether a browser's session is what it came by.
    public var isOfBrowserSession = false
    /// What the client's program calls itself; `nil` where it says nothing.
    public var userAgent: String?
    /// The device that the client says it is, from `X-Device-Id`.
    public var deviceID: String?

    /// A source of these parts.
    public init(remoteAddress: String?, id: String?) {
        self.remoteAddress = remoteAddress
        self.id = id
    }
}
