import JSON

/// Responses for requests that fail before they reach the service, in the shape the client speaks.
public enum ErrorBody {
    /// What went wrong, as the two shapes name it.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// The request is wrong.
        case badRequest = "BAD_REQUEST"
        /// There are no valid credentials.
        case unauthenticated = "UNAUTHENTICATED"
        /// The client may not do this from where it is.
        case unauthorized = "UNAUTHORIZED"
        /// Something allowed a certain number of times was asked for once more.
        case limit = "LIMIT"
        /// It cannot be served now.
        case unavailable = "UNAVAILABLE"
        /// It took longer than allowed.
        case timeout = "TIMEOUT"
        /// Something of ours failed.
        case internalError = "INTERNAL"

        /// AppSync's name (its HTTP errors).
        public var appSyncType: String {
            switch self {
            case .badRequest: "MalformedHttpRequestException"
            case .unauthenticated: "UnauthorizedException"
            case .unauthorized: "Unauthorized"
            case .limit: "LimitExceededError"
            case .unavailable, .timeout, .internalError: "InternalFailure"
            }
        }
    }

    /// A complete response object with one error and no data.
    public static func response(_ message: String, code: Code, style: ResponseStyle) -> [UInt8] {
        var writer = JSONWriter()
        writer.raw(#"{"errors":"#)
        writer.raw(bytes: errors(message, code: code, style: style))
        writer.byte(UInt8(ascii: "}"))
        return writer.bytes
    }

    /// A JSON array with one error.
    public static func errors(_ message: String, code: Code, style: ResponseStyle = .standard) -> [UInt8] {
        var error: JSONObject = [:]
        if style == .appSync { error["errorType"] = .string(code.appSyncType) }
        error["message"] = .string(message)
        error["extensions"] = ["code": .string(code.rawValue)]
        return JSONValue.array([.object(error)]).serialized()
    }

    /// The array of errors in a reply that has no data.
    static func errors(of reply: GraphQLReply) -> [UInt8] {
        let limits = JSONLimits(maximumBytes: Int.max, maximumDepth: 256, maximumValues: Int.max)
        let response = try? JSONParser.parse(reply.body, limits: limits)
        guard case .array(let errors)? = response?["errors"], !errors.isEmpty else {
            return self.errors("The request could not be served.", code: .internalError)
        }
        return JSONValue.array(errors).serialized()
    }
}
