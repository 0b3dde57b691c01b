/// Where a browser goes after a sign-in: a path of this server, never another's.
package enum ReturnPath {
    private static let maximumBytes = 512

    /// The path asked for, fit for a header; `/` for what is no path of this server.
    ///
    /// It begins with one slash, has no control characters and at most 512 bytes. Bytes beyond
    /// ASCII are written as `%` and two digits. Browsers take `//` and `/\` for another host.
    package static func checked(_ text: String?) -> String {
        guard let text, text.utf8.first == slash,
            !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else { return "/" }
        if let second = text.utf8.dropFirst().first, second == slash || second == UInt8(ascii: "\\") { return "/" }
        let path = FormText.percentEncoded(text) { (0x21...0x7E).contains($0) }
        return path.utf8.count <= maximumBytes ? path : "/"
    }

    private static let slash = UInt8(ascii: "/")
}
