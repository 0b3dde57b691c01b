import NIOHTTP1

/// Posts to paths of a server that are not GraphQL's; tries nothing again by itself.
package final class PathCaller: Sendable {
    /// What is posted.
    package struct Request: Sendable {
        /// Below the server's address, such as `/in/event`.
        package var path: String
        /// Beside those that every request has.
        package var headers: [(name: String, value: String)]
        /// The body.
        package var body: [UInt8]

        /// A request of these parts.
        package init(path: String, headers: [(name: String, value: String)] = [], body: [UInt8]) {
            (self.path, self.headers, self.body) = (path, headers, body)
        }
    }

    /// What the server said.
    package struct Answer: Sendable {
        /// The status of HTTP.
        package var status: Int
        /// At most 64 KiB.
        package var body: [UInt8]
        /// `Retry-After`, where it is given in seconds.
        package var retryAfterSeconds: Int?
    }

    private let caller: HTTPCaller
    /// What stands before the paths of a server below another's address.
    private let prefix: String

    /// A caller of the server at an address, as clients write it: the path of GraphQL may end it.
    package init(url: String, settings: ClientSettings) throws(ClientError) {
        var settings = settings
        settings.maximumAnswerBytes = 1 << 16
        let address = try ServerAddress(url: url)
        var path = address.path.hasSuffix("/graphql") ? String(address.path.dropLast("/graphql".count)) : address.path
        while path.hasSuffix("/") { path.removeLast() }
        prefix = path
        caller = HTTPCaller(connector: try Connector(address: address, settings: settings), settings: settings)
    }

    /// Posts once; connecting and the answer together take until `deadline`.
    package func post(_ request: Request, until deadline: ContinuousClock.Instant) async throws(ClientError) -> Answer {
        var headers = HTTPHeaders([
            ("Host", caller.address.authority), ("Content-Length", "\(request.body.count)"),
            ("User-Agent", ClientVersion.userAgent),
        ])
        for header in request.headers { headers.add(name: header.name, value: header.value) }
        let head = HTTPRequestHead(version: .http1_1, method: .POST, uri: prefix + request.path, headers: headers)
        do throws(CallFailure) {
            let answer = try await caller.send(head, request.body, until: deadline)
            return Answer(status: answer.status, body: answer.body, retryAfterSeconds: answer.retryAfterSeconds)
        } catch {
            throw error.error
        }
    }

    /// Closes the idle connection.
    package func close() { caller.close() }
}
