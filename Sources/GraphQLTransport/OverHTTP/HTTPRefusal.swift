public import GraphQL
public import HTTPTypes

/// An answer to a request that never reached the service.
public struct HTTPRefusal: Error, Sendable, Hashable {
    /// The status.
    public var status: HTTPResponse.Status
    /// What was wrong and what to do, for the client.
    public var message: String
    /// What kind of fault it is.
    public var code: ErrorCode
    /// How the answer is written.
    public var mediaType: ResponseMediaType
    /// The methods of the path, for `Allow`.
    public var allow: String?
    /// Whether the request was refused because two servers could read it in two ways.
    public var isAmbiguous = false

    /// A refusal of these parts.
    public init(
        _ status: HTTPResponse.Status,
        _ message: String,
        _ code: ErrorCode,
        _ mediaType: ResponseMediaType = .json,
        allow: String? = nil
    ) {
        self.status = status
        self.message = message
        self.code = code
        self.mediaType = mediaType
        self.allow = allow
    }

    /// What is said when the time for an answer is over; what was begun may still come to its end.
    public static let tooLong =
        "The request took too long. Ask for less; a mutation may be carried out all the same: repeat it with the same id."

    /// The method is not served on the GraphQL path.
    public static func methodNotAllowed(_ message: String, _ mediaType: ResponseMediaType) -> HTTPRefusal {
        HTTPRefusal(.methodNotAllowed, message, .badRequest, mediaType, allow: "GET, POST")
    }

    /// The operation's kind is not served with this method, or not as the client wants to be
    /// answered; `nil` when it is.
    public static func refusal(of kind: OperationKind, _ agreement: HTTPExchange.Agreement) -> HTTPRefusal? {
        let mediaType = agreement.mediaType
        switch (kind, agreement.source) {
        case (.query, _), (.mutation, .body): return nil
        case (.mutation, .parameters):
            let message = "GET runs queries only. Send the mutation with POST."
            return HTTPRefusal(.methodNotAllowed, message, .badRequest, mediaType, allow: "POST")
        case (.subscription, _):
            guard agreement.eventStream == .none else { return nil }
            let message = "Subscriptions need Accept: text/event-stream, or a WebSocket on this path."
            return HTTPRefusal(mediaType == .json ? .ok : .badRequest, message, .badRequest, mediaType)
        }
    }

    /// The complete response object.
    ///
    /// AppSync's clients expect `data` in every answer with status 200.
    public var body: [UInt8] {
        let response = ErrorBody.response(message, code: code, style: mediaType.style)
        return status == .ok ? Array(#"{"data":null,"#.utf8) + response.dropFirst() : response
    }
}

extension GraphQLReply {
    /// The status this reply travels with (GraphQL over HTTP §6.4, as its
    /// published audits read it).
    public func status(for mediaType: ResponseMediaType) -> HTTPResponse.Status {
        switch (kind, mediaType) {
        case (.executed, _): .ok
        case (.requestError, .json): .ok
        case (.requestError, .graphQLResponse): .badRequest
        case (.unavailable, _): .serviceUnavailable
        case (.tooManyRequests, _): .tooManyRequests
        }
    }
}
