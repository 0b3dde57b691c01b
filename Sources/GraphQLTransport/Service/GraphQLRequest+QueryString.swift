import JSON

extension GraphQLRequest {
    /// Reads the parameters of a `GET` (GraphQL over HTTP §5.3): the part of the target after the question mark.
    public static func parse(
        queryString: some StringProtocol,
        limits: GraphQLRequestLimits = GraphQLRequestLimits()
    ) throws(RequestFault) -> GraphQLRequest {
        var members: JSONObject = [:]
        for pair in queryString.utf8.split(separator: UInt8(ascii: "&")) {
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            let value = parts.count > 1 ? parts[1] : pair[pair.endIndex...]
            guard let name = PercentEncoding.formText(parts[0]), let value = PercentEncoding.formText(value) else {
                throw RequestFault("The query parameters are not percent-encoded UTF-8.")
            }
            guard ["query", "documentId", "operationName", "variables", "extensions"].contains(name) else { continue }
            guard members[name] == nil else {
                throw RequestFault("The query parameter \"\(name)\" is given twice. Give it once.")
            }
            members[name] = try memberValue(name, value, limits)
        }
        return try parse(members, limits: limits)
    }

    private static func memberValue(
        _ name: String,
        _ text: String,
        _ limits: GraphQLRequestLimits
    ) throws(RequestFault) -> JSONValue {
        switch name {
        case "query", "documentId": return .string(text)
        case "operationName": return text.isEmpty ? .null : .string(text)
        default:
            if text.isEmpty { return .null }
            do {
                return try JSONParser.parse(text, limits: limits.json)
            } catch {
                throw RequestFault("The query parameter \"\(name)\" is not JSON we accept: \(error).")
            }
        }
    }
}
