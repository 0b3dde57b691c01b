import JSON
import Testing

@Suite("JSON in memory")
struct JSONMemoryTests {
    private static func plain(_ bytes: [UInt8]) -> (Int, [UInt8]) {
        var target = [UInt8](repeating: 0xAA, count: bytes.count)
        let count = bytes.withUnsafeBytes { source in
            target.withUnsafeMutableBytes { target in
                guard let source = source.baseAddress, let target = target.baseAddress else { return 0 }
                return JSONMemory.copyPlain(source, bytes.count, to: target)
            }
        }
        return (count, Array(target.prefix(count)))
    }

    @Test("bytes are copied up to the first that must be escaped, whatever the length and its offset")
    func plain() {
        for length in 1...40 {
            let clean = (0..<length).map { UInt8(truncatingIfNeeded: 0x23 + $0 * 37 % 0x39) }
            #expect(Self.plain(clean) == (length, clean))
            for offset in 0..<length {
                for byte: UInt8 in [0x22, 0x5C, 0x00, 0x1F, 0x20, 0x21, 0x7F, 0x80, 0xA2, 0xDC, 0xFF] {
                    var bytes = clean
                    bytes[offset] = byte
                    let mustEscape = byte < 0x20 || byte == 0x22 || byte == 0x5C
                    let count = mustEscape ? offset : length
                    #expect(Self.plain(bytes) == (count, Array(bytes.prefix(count))))
                }
            }
        }
    }

    @Test("whole numbers are written like Swift prints them")
    func numbers() {
        var numbers: [Int64] = [0, 1, -1, .min, .max]
        var power: Int64 = 1
        for _ in 0..<18 {
            power *= 10
            numbers += [power - 1, power, power + 1, -power, 1 - power]
        }
        for number in numbers { #expect(JSONValue.int(number).serializedString() == String(number)) }
    }
}
