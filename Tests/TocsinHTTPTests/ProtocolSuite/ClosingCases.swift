// Family 7: the closing handshake; families 9 and 10: sizes.
extension ProtocolCase {
    static let closing: [ProtocolCase] = {
        let hello = Frame.text("Hello World!")
        let echo = RawFrame.text("Hello World!")
        let large = Array(repeating: UInt8(ascii: "B"), count: 262_144)
        let reason = String(repeating: "*", count: 123)
        let valid: [UInt16] = [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999]
        let invalid: [UInt16] = [0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65535]
        return [
            ProtocolCase(id: "7.1.1", sends: [hello, .close(1000)], echoes: [echo]),
            ProtocolCase(id: "7.1.2", sends: [.close(1000), .close(1000)]),
            ProtocolCase(id: "7.1.3", sends: [.close(1000), .ping()]),
            ProtocolCase(id: "7.1.4", sends: [.close(1000), hello]),
            ProtocolCase(id: "7.1.5", sends: [.text("fragment1", isFinal: false), .close(1000), .more("fragment2")]),
            ProtocolCase(
                id: "7.1.6",
                sends: [.text(large), hello, .close(1000), .ping()],
                echoes: [.text(large), echo]
            ),
            ProtocolCase(id: "7.3.1", sends: [.close([])], code: 0),
            ProtocolCase(id: "7.3.2", sends: [.close([UInt8(ascii: "a")])], code: 1002),
            ProtocolCase(id: "7.3.3", sends: [.close(1000)]),
            ProtocolCase(id: "7.3.4", sends: [.close(1000, "Hello World!")]),
            ProtocolCase(id: "7.3.5", sends: [.close(1000, reason)]),
            ProtocolCase(id: "7.3.6", sends: [.close(1000, reason + "*")], code: 1002),
            ProtocolCase(id: "7.5.1", sends: [.close([0x03, 0xE8, 0xCE, 0xBA, 0xED, 0xA0, 0x80, 0x65])], code: 1007),
            ProtocolCase(id: "7.5.1 cut", sends: [.close([0x03, 0xE8, 0xCE])], code: 1007),
        ]
            + valid.map { ProtocolCase(id: "7.7 \($0)", sends: [.close($0)], code: Int($0)) }
            + invalid.map { ProtocolCase(id: "7.9 \($0)", sends: [.close($0)], code: 1002) }
    }()

    static let sizes: [ProtocolCase] = {
        var cases: [ProtocolCase] = []
        for size in [65_536, 262_144, 1_048_576, 4_194_304] {
            let bytes = Array(repeating: UInt8(ascii: "*"), count: size)
            cases.append(ProtocolCase(id: "9.1 \(size)", sends: [.text(bytes)], echoes: [.text(bytes)]))
            cases.append(ProtocolCase(id: "9.2 \(size)", sends: [.binary(bytes)], echoes: [.binary(bytes)]))
        }
        let large = Array(repeating: UInt8(ascii: "*"), count: 1_048_576)
        for part in [256, 1024, 65_536] {
            cases.append(ProtocolCase(id: "9.3 \(part)", sends: parts(large, part), echoes: [.text(large)]))
        }
        for pieces in [256, 2048] {
            cases.append(
                ProtocolCase(id: "9.5 \(pieces)", sends: [.text(large)], echoes: [.text(large)], pieces: pieces)
            )
        }
        for size in [0, 16, 256, 4096] {
            let bytes = Array(repeating: UInt8(ascii: "*"), count: size)
            cases.append(
                ProtocolCase(
                    id: "9.7 \(size)",
                    sends: Array(repeating: .text(bytes), count: 500),
                    echoes: Array(repeating: .text(bytes), count: 500)
                )
            )
        }
        let text = Array(repeating: UInt8(ascii: "*"), count: 65_536)
        cases.append(ProtocolCase(id: "10.1.1", sends: parts(text, 1300), echoes: [.text(text)]))
        return cases
    }()

    private static func parts(_ bytes: [UInt8], _ size: Int) -> [Frame] {
        stride(from: 0, to: bytes.count, by: size).map { start in
            let part = Array(bytes[start..<min(start + size, bytes.count)])
            let isFinal = start + size >= bytes.count
            return start == 0 ? .text(part, isFinal: isFinal) : .more(part, isFinal: isFinal)
        }
    }
}
