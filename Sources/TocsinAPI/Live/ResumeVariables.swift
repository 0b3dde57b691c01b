/// Which variables of a document say only where a subscription begins.
enum ResumeVariables {
    private static let argument = Array("after".utf8)

    /// Variables that the text declares and then uses once, as `after:`.
    ///
    /// The text is not parsed: a name in a comment or string counts as a use too. So a variable may
    /// be missing here that could be listed, and its subscribers share less; the other way round
    /// would be wrong.
    static func names(in text: String) -> Set<String> {
        let bytes = Array(text.utf8)
        var uses: [String: Int] = [:]
        var asCursor: Set<String> = []
        for (index, byte) in bytes.enumerated() where byte == UInt8(ascii: "$") {
            let name = bytes[(index + 1)...].drop(while: isSpace).prefix(while: isNamePart)
            let variable = String(decoding: name, as: UTF8.self)
            uses[variable, default: 0] += 1
            if isArgument(before: bytes[..<index]) { asCursor.insert(variable) }
        }
        return asCursor.filter { uses[$0] == 2 }
    }

    /// Whether `after:` is what these bytes end with.
    private static func isArgument(before bytes: ArraySlice<UInt8>) -> Bool {
        var rest = trimmed(bytes)
        guard rest.popLast() == UInt8(ascii: ":") else { return false }
        rest = trimmed(rest)
        guard rest.suffix(argument.count).elementsEqual(argument) else { return false }
        return rest.dropLast(argument.count).last.map { !isNamePart($0) } ?? true
    }

    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        bytes.lastIndex { !isSpace($0) }.map { bytes[...$0] } ?? []
    }

    private static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D, UInt8(ascii: ",")].contains(byte) }

    private static func isNamePart(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
