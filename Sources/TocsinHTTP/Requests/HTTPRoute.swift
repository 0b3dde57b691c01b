package import HTTPTypes

/// One path beside GraphQL's and the health paths.
package struct HTTPRoute: Sendable {
    /// The method; `HEAD` is answered from `GET`'s route.
    ///
    /// `nil`: any, and the route itself refuses those it does not serve.
    package let method: HTTPRequest.Method?
    /// The exact path, or the beginning of one when it ends in `/*`.
    package let path: String
    /// Judges who may send a body, by the request's head; without it everybody may.
    package let admit: (@Sendable (IncomingRequest) async -> BodyAdmission)?
    /// What the path is to those who watch the server.
    package var label = RouteLabel.other
    /// Whether it is a page for people: requests that ask for no HTML find nothing there.
    package var isPage = false
    /// The longest body, in bytes, where it is another than elsewhere; the route answers those who
    /// announce more.
    package var maximumBodyBytes: Int?
    /// What those are told who have too much waiting in memory, where it is not 429: monitoring
    /// systems send again after 503, and some of them after nothing else.
    package var overloadStatus: HTTPResponse.Status?
    /// Which requests are meant, among those of the path; one without a method stands for any.
    ///
    /// Such a route is asked last, and only where no other has the path: pages, which are for
    /// browsers alone, do not count.
    package var takes: (@Sendable (_ method: HTTPRequest.Method?, _ path: String) -> Bool)?
    /// What answers.
    package let respond: @Sendable (IncomingRequest) async -> OutgoingResponse

    /// A route of these parts.
    package init(
        _ method: HTTPRequest.Method?,
        _ path: String,
        admit: (@Sendable (IncomingRequest) async -> BodyAdmission)? = nil,
        respond: @escaping @Sendable (IncomingRequest) async -> OutgoingResponse
    ) {
        self.method = method
        self.path = path
        self.admit = admit
        self.respond = respond
    }

    /// The same route under this name for those who watch the server.
    package func labelled(_ label: RouteLabel) -> HTTPRoute {
        var route = self
        route.label = label
        return route
    }

    /// The same route, for requests that ask for HTML alone.
    package var asPage: HTTPRoute {
        var route = self
        route.isPage = true
        return route
    }

    /// Whether the request may mean this route, whatever its method.
    func covers(_ request: IncomingRequest) -> Bool {
        covers(request.path, request.method) && (!isPage || request.header("accept")?.contains("text/html") == true)
    }

    func covers(_ path: String, _ method: HTTPRequest.Method? = nil) -> Bool {
        let isMeant = self.path.hasSuffix("/*") ? path.hasPrefix(self.path.dropLast()) : path == self.path
        return isMeant && takes?(method, path) ?? true
    }
}

/// Whether the body of a request is read.
package enum BodyAdmission: Sendable {
    /// It is; `owner` is whose memory it takes, `nil` the client's address.
    case admitted(owner: String?)
    /// It is not, and this is the answer.
    case refused(OutgoingResponse)
}
