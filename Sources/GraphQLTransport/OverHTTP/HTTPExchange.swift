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
        /// The parameters of the target; only queries may run.
        case parameters
        /// The body.
        case body
    }

    /// A request that can be read and answered.
    public struct Agreement: Sendable, Hashable {
        /// Where the request is read from.
        public var source: Source
        /// How it is answered.
        public var mediaType: ResponseMediaType
    }

    /// Where to read the request and how to answer, or the refusal.
    ///
    /// A `POST` must say that it is JSON: what an HTML form can send is refused, so that no page can act for its
    /// reader.
    public func negotiated() -> Result<Agreement, HTTPRefusal> {
        let mediaType = ResponseMediaType.negotiated(accept: accept)
        let style = mediaType ?? .json
        guard method == .get || method == .post || method == .head else {
            return .failure(
                .methodNotAllowed("\(method.rawValue) is not served here. Send POST, or GET for queries.", style)
            )
        }
        guard let mediaType else {
            let offer = "application/json or application/graphql-response+json"
            return .failure(
                HTTPRefusal(.notAcceptable, "Nothing in Accept can be served. Accept \(offer).", .badRequest, .json)
            )
        }
        guard method == .post else { return .success(Agreement(source: .parameters, mediaType: mediaType)) }
        if let contentEncoding, contentEncoding.lowercased() != "identity" {
            let message = "Bodies with a content coding are not accepted. Send the body as it is."
            return .failure(HTTPRefusal(.unsupportedMediaType, message, .badRequest, mediaType))
        }
        if let fault = contentTypeFault {
            return .failure(HTTPRefusal(.unsupportedMediaType, fault, .badRequest, mediaType))
        }
        return .success(Agreement(source: .body, mediaType: mediaType))
    }

    private var contentTypeFault: String? {
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
