/// A link that a web view or a push names, read strictly: what browsers would mend is refused.
struct LinkAddress {
    /// In lower case, without an end dot.
    let host: String
    /// Begins with a slash; without query and fragment.
    let path: String

    /// The longest link that is looked at, in bytes.
    private static let longest = 8192

    /// Reads an https link with a plain host name and the default port.
    init?(_ text: String) {
        let bytes = Array(text.utf8)
        let scheme = Array("https://".utf8)
        guard bytes.count <= Self.longest, bytes.count > scheme.count,
            bytes.prefix(scheme.count).map(Self.lowercased).elementsEqual(scheme),
            Self.isPlain(text)
        else { return nil }
        let rest = bytes.dropFirst(scheme.count)
        let authority = rest.prefix { !"/?#".utf8.contains($0) }
        guard let host = Self.host(authority) else { return nil }
        self.host = host
        let path = rest.dropFirst(authority.count).prefix { !"?#".utf8.contains($0) }
        self.path = path.isEmpty ? "/" : String(decoding: path, as: UTF8.self)
    }

    /// Browsers drop or change such characters, so nobody can say where the link leads.
    static func isPlain(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { scalar in
            scalar != "\\" && !scalar.properties.isWhitespace && scalar.properties.generalCategory != .control
                && scalar.properties.generalCategory != .format
        }
    }

    /// The host of `name` or `name:443`; `nil` for user information, other ports and addresses.
    private static func host(_ authority: ArraySlice<UInt8>) -> String? {
        var name = authority
        if let colon = authority.firstIndex(of: UInt8(ascii: ":")) {
            guard authority[(colon + 1)...].elementsEqual("443".utf8) else { return nil }
            name = authority[..<colon]
        }
        return HostName(String(decoding: name, as: UTF8.self))?.text
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        (0x41...0x5A).contains(byte) ? byte | 0x20 : byte
    }
}

/// A host's name in lower case, of labels that mean what they look like.
struct HostName {
    let text: String

    /// Refuses whatever is no plain name: addresses, percent signs, empty labels, and labels whose
    /// letters mix scripts or cannot be decoded.
    init?(_ name: String) {
        var bytes = Array(name.utf8).map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
        if bytes.last == UInt8(ascii: ".") { bytes.removeLast() }
        guard !bytes.isEmpty, bytes.count <= 253 else { return nil }
        let labels = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        for label in labels where !Self.isLabel(label) { return nil }
        // A last label that is a number makes the whole an address (URL Standard, host parsing).
        guard let last = labels.last, !Self.isNumber(last) else { return nil }
        text = String(decoding: bytes, as: UTF8.self)
    }

    private static func isLabel(_ label: ArraySlice<UInt8>) -> Bool {
        let isPlain = label.allSatisfy { byte in
            (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x2D || byte == 0x5F
        }
        guard isPlain, (1...63).contains(label.count), label.first != 0x2D, label.last != 0x2D else { return false }
        guard label.starts(with: "xn--".utf8) else { return true }
        guard let decoded = Punycode.decode(label.dropFirst(4)) else { return false }
        return Script.isSingle(decoded)
    }

    private static func isNumber(_ label: ArraySlice<UInt8>) -> Bool {
        let isDecimal = label.allSatisfy { (0x30...0x39).contains($0) }
        let isHexadecimal = label.starts(with: "0x".utf8)
        return isDecimal || isHexadecimal
    }
}
