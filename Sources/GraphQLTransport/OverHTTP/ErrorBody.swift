import JSON

/// Responses for requests that fail before they reach the service, in the shape the client speaks.
public enum ErrorBody {
    /// A complete response object with one error and no data.
    public static func response(_ message: String, code: ErrorCode, style: ResponseStyle) -> [UInt8] {
        var writer = JSONWriter()
        writer.raw(#"{"errors":"#)
        writer.raw(bytes: errors(message, code: code, style: style))
        writer.byte(UInt8(ascii: "}"))
        return writer.bytes
    }

    /// One error for paths that do not speak GraphQL: `{"error": {"code", "message"}}`.
    public static func plain(_ message: String, code: String) -> [UInt8] {
        let error: JSONValue = ["error": ["code": .string(code), "message": .string(message)]]
        return error.serialized()
    }

    /// A JSON array with one error.
    public static func errors(_ message: String, code: ErrorCode, style: ResponseStyle = .standard) -> [UInt8] {
        var error: JSONObject = [:]
        if style == .appSync { error["errorType"] = .string(code.httpErrorType) }
        error["message"] = .string(message)
        error["extensions"] = ["code": .string(code.rawValue)]
        return JSONValue.array([.object(error)]).serialized()
    }

    /// The array of errors in a reply that has no data.
    static func errors(of reply: GraphQLReply) -> [UInt8] {
        let response = parsed(reply.body)
        guard case .array(let errors)? = response?["errors"], !errors.isEmpty else {
            return self.errors("The request could not be served.", code: .internal)
        }
        return JSONValue.array(errors).serialized()
    }

    /// JSON of our own; `nil` when a service wrote something else.
    static func parsed(_ body: [UInt8]) -> JSONValue? {
        let limits = JSONLimits(maximumBytes: Int.max, maximumDepth: 256, maximumValues: Int.max)
        return try? JSONParser.parse(body, limits: limits)
    }
}
