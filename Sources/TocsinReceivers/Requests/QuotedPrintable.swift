/// Quoted-printable (RFC 2045 §6.7).
enum QuotedPrintable {
    /// The bytes; what is no escape stays as it is.
    static func decoded(_ text: some Collection<UInt8>) -> [UInt8] {
        let input = Array(text)
        var (output, index) = ([UInt8](), 0)
        output.reserveCapacity(input.count)
        while index < input.count {
            guard input[index] == UInt8(ascii: "=") else {
                output.append(input[index])
                index += 1
                continue
            }
            if index + 2 < input.count, let high = HexText.digit(input[index + 1]),
                let low = HexText.digit(input[index + 2])
            {
                output.append(high << 4 | low)
                index += 3
            } else if let end = softLineEnd(input, from: index + 1) {
                index = end
            } else {
                output.append(input[index])
                index += 1
            }
        }
        return output
    }

    /// Where the next line begins, if only space stands between the `=` and the line's end.
    private static func softLineEnd(_ input: [UInt8], from start: Int) -> Int? {
        var index = start
        while index < input.count, input[index] == 0x20 || input[index] == 0x09 || input[index] == 0x0D { index += 1 }
        if index == input.count { return index }
        return input[index] == 0x0A ? index + 1 : nil
    }
}
