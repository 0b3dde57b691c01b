public import HTTPTypes

/// One HTTP request to the GraphQL path, as far as negotiation needs it.
public struct HTTPExchange: Sendable {
    /// The method.
    public var method: HTTPRequest.Method
    /// The `Content-Type` of the body, if it has one.
    public var contentType: String?
    /// The `Content-Encoding` of the body, if it has one.
    public var contentEncoding: String?
    /// What the client takes.
    public var accept: String?

    /// An exchange of these parts.
    public init(
        method: HTTPRequest.Method,
        contentType: String? = nil,
        contentEncoding: String? = nil,
        accept: String? = nil
    ) {
        self.method = method
        self.contentType = contentType
        self.contentEncoding = contentEncoding
        self.accept = accept
    }

    /// Where the request is read from.
    public enum Source: Sendable, Hashable {
        /// The parameters of the target; nothing that writes may run.
        case parameters
        /// The body.
        case body
    }

    /// A request that can be read and answered.
    public struct Agreement: Sendable, Hashable {
        /// Where the request is read from.
        public var source: Source
        /// How it is answered in one piece; refusals always are.
        public var mediaType: ResponseMediaType
        /// What is answered with a stream of events instead.
        public var eventStream: EventStreamUse
    }

    /// Where to read the request and how to answer, or the refusal.
    ///
    /// A `POST` must say that it is JSON: what an HTML form can send is refused, so that no
    /// page can act for its reader.
    public func negotiated() -> Result<Agreement, HTTPRefusal> {
        let accepted = AcceptedTypes(accept)
        // To those who read only events, a refusal is a status; its body is for people.
        let mediaType = accepted.mediaType ?? (accepted.eventStream == .none ? .json : .graphQLResponse)
        guard method == .get || method == .post || method == .head else {
            let message = "\(method.rawValue) is not served here. Send POST, or GET for queries."
            return .failure(.methodNotAllowed(message, mediaType))
        }
        guard accepted.mediaType != nil || accepted.eventStream != .none else {
            let offer = "application/json, application/graphql-response+json or text/event-stream"
            let message = "Nothing in Accept can be served. Accept \(offer)."
            return .failure(HTTPRefusal(.notAcceptable, message, .badRequest, mediaType))
        }
        let source: Source = method == .post ? .body : .parameters
        if source == .body, let fault = codingFault ?? contentTypeFault {
            return .failure(HTTPRefusal(.unsupportedMediaType, fault, .badRequest, mediaType))
        }
        return .success(Agreement(source: source, mediaType: mediaType, eventStream: accepted.eventStream))
    }

    private var codingFault: String? {
        guard let contentEncoding, contentEncoding.lowercased() != "identity" else { return nil }
        return "Bodies with a content coding are not accepted. Send the body as it is."
    }

    private var contentTypeFault: String? {
        if contentType == "application/json" { return nil }
        guard let contentType else { return "The request has no Content-Type. Send application/json." }
        guard let type = MediaType(contentType), type.type == "application",
            ["json", "graphql", "graphql+json"].contains(type.subtype)
        else {
            return "This Content-Type is not served. Send application/json."
        }
        let charset = type.parameters.first { $0.name == "charset" }?.value
        guard charset == nil || charset == "utf-8" || charset == "utf8" else {
            return "Only UTF-8 is served. Send application/json in UTF-8."
        }
        return nil
    }
}
