import JSON

/// Reads what a GraphQL endpoint answers.
enum GraphQLAnswer {
    /// The response's `data`, or why there is none.
    static func data(of answer: HTTPAnswer, from address: ServerAddress) throws(CallFailure) -> JSONValue {
        let limits = JSONLimits(maximumBytes: Int.max, maximumDepth: 64, maximumValues: 1_000_000)
        guard let response = try? JSONParser.parse(answer.body, limits: limits), response.objectValue != nil,
            response["data"] != nil || response["errors"] != nil
        else {
            throw strange(answer, address)
        }
        if let error = firstError(of: response["errors"], retryAfterSeconds: answer.retryAfterSeconds) {
            throw CallFailure(
                error: error,
                retry: retry(for: error.code, status: answer.status),
                retryAfterSeconds: answer.retryAfterSeconds,
                isRefusedCredentials: answer.status == 401
            )
        }
        return response["data"] ?? .null
    }

    /// The first of a response's errors, with how many more there are.
    static func firstError(of errors: JSONValue?, retryAfterSeconds: Int? = nil) -> ClientError? {
        guard let list = errors?.arrayValue, let first = list.first else { return nil }
        let code = first["extensions"]?["code"]?.stringValue ?? first["errorType"]?.stringValue
        let message = first["message"]?.stringValue ?? "The server refused without a reason."
        let rest = list.count > 1 ? " (and \(list.count - 1) more)" : ""
        return ClientError(
            code.map(ClientError.Code.init) ?? .badAnswer,
            message + rest,
            oldestCursor: first["extensions"]?["oldestCursor"]?.stringValue,
            retryAfter: retryAfterSeconds.map { .seconds(max(0, $0)) },
            path: first["path"]?.arrayValue.map(path),
            storedRow: first["extensions"]?["data"]
        )
    }

    private static func path(_ keys: [JSONValue]) -> String {
        keys.map { $0.stringValue ?? $0.intValue.map { String($0) } ?? "?" }.joined(separator: ".")
    }

    private static func retry(for code: ClientError.Code, status: Int) -> CallFailure.Retry {
        if status == 429 { return .always }
        let isTemporary = [.unavailable, .timeout].contains(code) || status >= 500
        return isTemporary ? .ifRepeatable : .never
    }

    /// An answer without a GraphQL response: a proxy's page, or something else that listens there.
    private static func strange(_ answer: HTTPAnswer, _ address: ServerAddress) -> CallFailure {
        let (code, advice): (ClientError.Code, String) =
            switch answer.status {
            case 401: (.unauthenticated, "Give a valid token.")
            case 403: (.unauthorized, "Give a token that may do this.")
            case 404: (.badAnswer, "There is no GraphQL endpoint at \(address.path).")
            case 429, 500...: (.unavailable, "Try again later.")
            default: (.badAnswer, "Is it a Tocsin server?")
            }
        return CallFailure(
            error: ClientError(
                code,
                "\(address.description) answered with status \(answer.status). \(advice)",
                retryAfter: answer.retryAfterSeconds.map { .seconds(max(0, $0)) }
            ),
            retry: answer.status == 429 ? .always : answer.status >= 500 ? .ifRepeatable : .never,
            retryAfterSeconds: answer.retryAfterSeconds,
            isRefusedCredentials: answer.status == 401
        )
    }
}
