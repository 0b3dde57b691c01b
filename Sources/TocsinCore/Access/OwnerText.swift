/// What an owner text of one part means.
///
/// Such texts are in rows of older Amplify versions, in imports, and in lists such as `editors`
/// that clients write.
///
/// A text of the form of a UUID is a subject (`sub`) and nothing else; any other is a user name. So
/// nobody can pass for another person by choosing that person's subject as a name.
package enum OwnerText {
    /// The subject as an owner text by itself; nil where it would read as a name.
    static func subject(_ text: String) -> String? { isSubject(text) ? text : nil }

    /// The name as an owner text by itself; nil where it is absent or would read as a subject.
    static func name(_ text: String) -> String? { text.isEmpty || isSubject(text) ? nil : text }

    /// Whether the text has the form of a UUID (RFC 9562 §4), in letters of either case.
    package static func isSubject(_ text: String) -> Bool {
        let bytes = text.utf8
        guard bytes.count == 36 else { return false }
        for (index, byte) in bytes.enumerated() {
            let isHyphen = byte == UInt8(ascii: "-")
            guard [8, 13, 18, 23].contains(index) ? isHyphen : isHexadecimal(byte) else { return false }
        }
        return true
    }

    /// An owner text as people read it: the user name of `<sub>::<username>`, or all of it where it
    /// has no name.
    package static func shown(_ text: String) -> String {
        guard let separator = text.firstRange(of: "::"), separator.upperBound < text.endIndex else { return text }
        return String(text[separator.upperBound...])
    }

    /// The user of an owner text: the subject of `<sub>::<username>`, or all of it.
    package static func userID(of text: String) -> UserID {
        UserID(text.firstRange(of: "::").map { String(text[..<$0.lowerBound]) } ?? text)
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }
}
