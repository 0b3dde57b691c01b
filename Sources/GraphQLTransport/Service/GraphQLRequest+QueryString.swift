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
            guard let name = decoded(parts[0]), let value = decoded(parts.count > 1 ? parts[1] : pair[pair.endIndex...])
            else {
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

    /// `application/x-www-form-urlencoded`: a plus is a space, `%` and two hexadecimal digits are a byte.
    private static func decoded(_ text: some Collection<UInt8>) -> String? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var rest = text.makeIterator()
        while let byte = rest.next() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard let high = rest.next().flatMap(hexValue), let low = rest.next().flatMap(hexValue) else {
                    return nil
                }
                bytes.append(high << 4 | low)
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func hexValue(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
