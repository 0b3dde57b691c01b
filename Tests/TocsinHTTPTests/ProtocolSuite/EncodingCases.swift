// Family 6: text is UTF-8, in one frame, in many, and cut anywhere.
extension ProtocolCase {
    private static let kosme: [UInt8] = Array("κόσμε".utf8)

    static let encoding: [ProtocolCase] = {
        let hello = "Hello-µ@ßöäüàá-UTF-8!!"
        let bytes = Array(hello.utf8)
        let bad = kosme + [0xED, 0xA0, 0x80] + Array("edited".utf8)
        return [
            ProtocolCase(id: "6.1.1", sends: [.text("")], echoes: [.text("")]),
            ProtocolCase(
                id: "6.1.2",
                sends: [.text("", isFinal: false), .more("", isFinal: false), .more("")],
                echoes: [.text("")]
            ),
            ProtocolCase(
                id: "6.1.3",
                sends: [.text("", isFinal: false), .more("middle frame payload", isFinal: false), .more("")],
                echoes: [.text("middle frame payload")]
            ),
            ProtocolCase(id: "6.2.1", sends: [.text(hello)], echoes: [.text(hello)]),
            ProtocolCase(
                id: "6.2.2",
                sends: [.text("Hello-µ@ß", isFinal: false), .more("öäüàá-UTF-8!!")],
                echoes: [.text(hello)]
            ),
            ProtocolCase(id: "6.2.3", sends: octets(bytes), echoes: [.text(hello)]),
            ProtocolCase(id: "6.2.4", sends: octets(kosme), echoes: [.text(kosme)]),
            ProtocolCase(id: "6.3.1", sends: [.text(bad)], code: 1007),
            ProtocolCase(id: "6.3.2", sends: octets(bad), code: 1007),
        ]
    }()

    /// What must be refused although something is still missing.
    static let unfinished: [ProtocolCase] = [
        ProtocolCase(
            id: "6.4.1",
            sends: [.text(kosme, isFinal: false), .more([0xF4, 0x90, 0x80, 0x80], isFinal: false), .more("edited")],
            code: 1007
        ),
        ProtocolCase(
            id: "6.4.2",
            sends: [.text(kosme + [0xF4], isFinal: false), .more([0x90], isFinal: false), .more("edited")],
            code: 1007
        ),
        ProtocolCase(id: "6.4.3", sends: [.text(kosme + [0xF4, 0x90, 0x80, 0x80] + Array("edited".utf8))], code: 1007),
        ProtocolCase(id: "6.4.4", sends: [.text(kosme + [0xF4, 0x90] + Array("edited".utf8))], code: 1007),
        ProtocolCase(id: "3.1 cut", sends: [Frame(first: 0x91, Array("Hello".utf8))], code: 1002),
        ProtocolCase(id: "4.1 cut", sends: [Frame(first: 0x83, Array("Hello".utf8))], code: 1002),
        ProtocolCase(id: "5.9 cut", sends: [.more("Hello")], code: 1002),
    ]

    private static func octets(_ bytes: [UInt8]) -> [Frame] {
        bytes.enumerated().map { index, byte in
            let isFinal = index == bytes.count - 1
            return index == 0 ? .text([byte], isFinal: isFinal) : .more([byte], isFinal: isFinal)
        }
    }

    /// Each sequence alone, whole and octet by octet.
    static let sequences: [ProtocolCase] = {
        let good = valid.enumerated().flatMap { index, bytes in
            [
                ProtocolCase(id: "6 valid \(index)", sends: [.text(bytes)], echoes: [.text(bytes)]),
                ProtocolCase(id: "6 valid \(index) in octets", sends: octets(bytes), echoes: [.text(bytes)]),
            ]
        }
        let bad = invalid.enumerated().flatMap { index, bytes in
            [
                ProtocolCase(id: "6 invalid \(index)", sends: [.text(bytes)], code: 1007),
                ProtocolCase(id: "6 invalid \(index) in octets", sends: octets(bytes), code: 1007),
                ProtocolCase(
                    id: "6 invalid \(index) after text",
                    sends: [.text(Array("12345678".utf8) + bytes)],
                    code: 1007
                ),
            ]
        }
        return good + bad
    }()

    private static let valid: [[UInt8]] = [
        // 6.6: prefixes that end with a character; 6.7: the first of each length.
        Array("κ".utf8), Array("κό".utf8), Array("κόσ".utf8), kosme, [0x00], [0xC2, 0x80], [0xE0, 0xA0, 0x80],
        [0xF0, 0x90, 0x80, 0x80],
        // 6.9: the last of each length; 6.11: at the borders.
        [0x7F], [0xDF, 0xBF], [0xEF, 0xBF, 0xBF], [0xF4, 0x8F, 0xBF, 0xBF], [0xED, 0x9F, 0xBF], [0xEE, 0x80, 0x80],
        [0xEF, 0xBF, 0xBD],
        // 6.22: noncharacters; 6.23: specials.
        [0xEF, 0xBF, 0xBE], [0xF0, 0x9F, 0xBF, 0xBE], [0xF0, 0x9F, 0xBF, 0xBF], [0xF3, 0xAF, 0xBF, 0xBE],
        [0xF4, 0x8F, 0xBF, 0xBE], [0xEF, 0xBF, 0xB9], [0xEF, 0xBF, 0xBA], [0xEF, 0xBF, 0xBB], [0xEF, 0xBF, 0xBC],
    ]

    private static let invalid: [[UInt8]] = {
        var cases: [[UInt8]] = [
            // 6.6: cut inside a character.
            [0xCE], [0xCE, 0xBA, 0xE1], [0xCE, 0xBA, 0xE1, 0xBD], kosme.dropLast(),
            // 6.8, 6.10: five and six octets.
            [0xF8, 0x88, 0x80, 0x80, 0x80], [0xFC, 0x84, 0x80, 0x80, 0x80, 0x80], [0xF7, 0xBF, 0xBF, 0xBF],
            [0xFB, 0xBF, 0xBF, 0xBF, 0xBF], [0xFD, 0xBF, 0xBF, 0xBF, 0xBF, 0xBF],
            // 6.11: beyond the last character.
            [0xF4, 0x90, 0x80, 0x80],
            // 6.14, 6.15: the last octet is missing.
            [0xC0], [0xE0, 0x80], [0xF0, 0x80, 0x80], [0xDF], [0xEF, 0xBF], [0xF4, 0x8F, 0xBF],
            [0xC0, 0xE0, 0x80, 0xF0, 0x80, 0x80],
            // 6.16: impossible octets.
            [0xFE], [0xFF], [0xFE, 0xFE, 0xFF, 0xFF],
            // 6.17 to 6.19: longer than they must be.
            [0xC0, 0xAF], [0xE0, 0x80, 0xAF], [0xF0, 0x80, 0x80, 0xAF], [0xF8, 0x80, 0x80, 0x80, 0xAF],
            [0xFC, 0x80, 0x80, 0x80, 0x80, 0xAF], [0xC1, 0xBF], [0xE0, 0x9F, 0xBF], [0xF0, 0x8F, 0xBF, 0xBF],
            [0xF8, 0x87, 0xBF, 0xBF, 0xBF], [0xFC, 0x83, 0xBF, 0xBF, 0xBF, 0xBF], [0xC0, 0x80], [0xE0, 0x80, 0x80],
            [0xF0, 0x80, 0x80, 0x80],
        ]
        // 6.12: continuations without a start; 6.13: starts without a continuation.
        for count in 1...7 { cases.append((0..<count).map { $0 % 2 == 0 ? 0x80 : 0xBF }) }
        cases.append(Array(0x80...0xBF))
        cases += [0xC0...0xDF, 0xE0...0xEF, 0xF0...0xF7, 0xF8...0xFB, 0xFC...0xFD]
            .map { (range: ClosedRange<UInt8>) in range.flatMap { [$0, 0x20] } }
        // 6.20, 6.21: surrogates, alone and in pairs.
        let high: [[UInt8]] = [[0xED, 0xA0, 0x80], [0xED, 0xAD, 0xBF], [0xED, 0xAE, 0x80], [0xED, 0xAF, 0xBF]]
        let low: [[UInt8]] = [[0xED, 0xB0, 0x80], [0xED, 0xBE, 0x80], [0xED, 0xBF, 0xBF]]
        cases += high + low + high.flatMap { first in low.map { first + $0 } }
        return cases
    }()
}
