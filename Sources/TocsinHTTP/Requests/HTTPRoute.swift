package import HTTPTypes

/// One path beside GraphQL's and the health paths.
package struct HTTPRoute: Sendable {
    /// The method; `HEAD` is answered from `GET`'s route.
    ///
    /// `nil`: any, and the route itself refuses those it does not serve.
    package let method: HTTPRequest.Method?
    /// The exact path, or the beginning of one when it ends in `/*`.
    package let path: String
    /// What answers.
    package let respond: @Sendable (IncomingRequest) async -> OutgoingResponse

    /// A route of these parts.
    package init(
        _ method: HTTPRequest.Method?,
        _ path: String,
        respond: @escaping @Sendable (IncomingRequest) async -> OutgoingResponse
    ) {
        self.method = method
        self.path = path
        self.respond = respond
    }

    func covers(_ path: String) -> Bool {
        self.path.hasSuffix("/*") ? path.hasPrefix(self.path.dropLast()) : path == self.path
    }
}
