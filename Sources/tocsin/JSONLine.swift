import JSON

/// One JSON object on one line, for programs.
enum JSONLine {
    static func text(_ members: [(String, JSONValue)]) -> String {
        JSONValue.object(JSONObject(members)).serializedString()
    }
}
