import JSON

/// Parts of a settings file in TOML that read back as what they were.
enum SettingsTOML {
    /// Names of members that hold secrets in one of the tables.
    private static let secretMembers: Set<String> = Set(
        ["secret", "key"]
            + (SettingTable.appleOfApps + SettingTable.fcm + SettingTable.oidc).filter(\.isSecret).map {
                String($0.key.drop { $0 != "-" }.dropFirst())
            }
    )

    /// A setting's text: plain where it is a number or a truth, else quoted.
    static func value(of text: String) -> String {
        if text == "true" || text == "false" || Int(text).map(String.init) == text { return text }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let isDecimal = parts.count == 2 && parts.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy(isDigit) }
        if isDecimal, parts[0] == "0" || parts[0].first != "0" { return text }
        return quoted(text)
    }

    /// A basic string: JSON's escapes are TOML's too.
    static func quoted(_ text: String) -> String { JSONValue.string(text).serializedString() }

    /// The table as it stands in a file; one that holds a secret itself is commented out, for
    /// without the secret it is none.
    static func text(of table: SettingsFileTable) -> String {
        guard case .object(let members) = table.value else { return "" }
        let isSecret = holdsSecret(table.value)
        var lines = ["[[\(table.list)]]"] + plainLines(of: members)
        for member in members {
            guard case .object(let inner) = member.value else { continue }
            lines += ["[\(table.list).\(key(member.key))]"] + plainLines(of: inner)
        }
        if isSecret {
            let heading = "# This table holds a secret, which is not shown. Write it anew, or name a file of it.\n"
            return heading + lines.map { "# \($0)\n" }.joined()
        }
        return lines.map { $0 + "\n" }.joined()
    }

    private static func plainLines(of members: JSONObject) -> [String] {
        members.compactMap { member in
            guard let value = value(of: member.value) else { return nil }
            if let address = address(member) { return "\(key(member.key)) = \(quoted(address.text))" }
            return "\(key(member.key)) = \(isSecret(member.key) ? quoted(Secret.mask) : value)"
        }
    }

    private static func value(of value: JSONValue) -> String? {
        switch value {
        case .string(let text): return quoted(text)
        case .int(let number): return String(number)
        case .double(let number): return String(number)
        case .bool(let truth): return String(truth)
        case .array(let values):
            return "[" + values.compactMap { self.value(of: $0) }.joined(separator: ", ") + "]"
        case .null, .object: return nil
        }
    }

    private static func holdsSecret(_ value: JSONValue) -> Bool {
        guard case .object(let members) = value else { return false }
        return members.contains { isSecret($0.key) || holdsSecret($0.value) || address($0)?.isMasked == true }
    }

    /// The address of a webhook, which may be all that a receiver asks for.
    private static func address(_ member: JSONObject.Element) -> ShownAddress? {
        guard member.key.lowercased() == "url", case .string(let text) = member.value else { return nil }
        return ShownAddress(text)
    }

    private static func isSecret(_ key: String) -> Bool {
        secretMembers.contains(key.map { $0 == "_" ? "-" : String($0) }.joined().lowercased())
    }

    /// A bare key where it may be one.
    private static func key(_ name: String) -> String {
        let isBare =
            !name.isEmpty
            && name.utf8.allSatisfy { byte in
                isDigit(byte) || (0x61...0x7A).contains(byte | 0x20) || byte == UInt8(ascii: "-")
                    || byte == UInt8(ascii: "_")
            }
        return isBare ? name : quoted(name)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}
