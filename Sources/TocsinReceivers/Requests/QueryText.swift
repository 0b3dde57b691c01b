/// Queries and forms (`application/x-www-form-urlencoded`), read without refusing anything.
enum QueryText {
    /// The items of a query or a form in order, names and values decoded.
    static func items(_ bytes: some Collection<UInt8>) -> [ReceiverRequest.Item] {
        var items: [ReceiverRequest.Item] = []
        for part in bytes.split(separator: UInt8(ascii: "&")) {
            guard items.count < ReceiverRequest.maximumItems else { break }
            let halves = part.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            let value = halves.count > 1 ? decoded(halves[1], plusIsSpace: true) : ""
            items.append(ReceiverRequest.Item(decoded(halves[0], plusIsSpace: true), value))
        }
        return items
    }

    /// The text of percent-encoded bytes; what is no escape stays as it is.
    static func decoded(_ text: some StringProtocol, plusIsSpace: Bool) -> String {
        decoded(text.utf8, plusIsSpace: plusIsSpace)
    }

    static func decoded(_ bytes: some Collection<UInt8>, plusIsSpace: Bool) -> String {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var index = bytes.startIndex
        while index != bytes.endIndex {
            let byte = bytes[index]
            bytes.formIndex(after: &index)
            if byte == UInt8(ascii: "%"), let escaped = escape(bytes[index...]) {
                result.append(escaped)
                index = bytes.index(index, offsetBy: 2)
            } else {
                result.append(plusIsSpace && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static func escape(_ bytes: some Collection<UInt8>) -> UInt8? {
        let digits = bytes.prefix(2).compactMap(HexText.digit)
        return digits.count == 2 ? digits[0] << 4 | digits[1] : nil
    }
}
