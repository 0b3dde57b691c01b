import JSON

/// One post that waits in the spool: where it goes, and its bytes.
///
/// It names the file of its key and not the key: nothing secret lies in the spool, and a key that
/// was changed meanwhile is used.
struct SpoolEntry: Equatable {
    /// The server's address.
    var server: String
    /// The file of the integration's key.
    var keyFile: String
    /// A file of further certificate authorities.
    var authorityFile: String?
    /// Such as `/in/event`.
    var path: String
    /// The media type of the bytes.
    var contentType: String
    /// What is posted.
    var body: [UInt8]

    /// Entries of one lane go out one after the other.
    struct Lane: Hashable {
        var server: String
        var keyFile: String
    }

    /// Whose order it keeps.
    var lane: Lane { Lane(server: server, keyFile: keyFile) }

    /// One line of JSON, then the body as it is.
    var bytes: [UInt8] {
        var head: JSONObject = [
            "server": .string(server), "keyFile": .string(keyFile), "path": .string(path),
            "contentType": .string(contentType),
        ]
        if let authorityFile { head["caFile"] = .string(authorityFile) }
        return Array(JSONValue.object(head).serializedString().utf8) + [UInt8(ascii: "\n")] + body
    }

    /// The longest first line, in bytes.
    private static let maximumHeadBytes = 1 << 16
}

extension SpoolEntry {
    /// An entry that `bytes` has written; nil for anything else.
    init?(_ bytes: [UInt8]) {
        guard let end = bytes.prefix(Self.maximumHeadBytes).firstIndex(of: UInt8(ascii: "\n")),
            let head = try? JSONParser.parse(Array(bytes[..<end])),
            let server = head["server"]?.stringValue, let keyFile = head["keyFile"]?.stringValue,
            let path = head["path"]?.stringValue, path.hasPrefix("/in/"), Self.isPlain(path),
            let contentType = head["contentType"]?.stringValue, Self.isPlain(contentType)
        else { return nil }
        self.init(
            server: server,
            keyFile: keyFile,
            authorityFile: head["caFile"]?.stringValue,
            path: path,
            contentType: contentType,
            body: Array(bytes[bytes.index(after: end)...])
        )
    }

    /// Whether a text may stand in the head of a request.
    private static func isPlain(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { (0x21...0x7E).contains($0.value) }
    }
}
