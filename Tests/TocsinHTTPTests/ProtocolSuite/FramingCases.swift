// Families 1 to 5: frames, control frames, reserved bits and opcodes, fragments.
extension ProtocolCase {
    static let framing: [ProtocolCase] = [0, 125, 126, 127, 128, 65_535, 65_536].enumerated().flatMap { index, count in
        let bytes = Array(repeating: UInt8(ascii: "*"), count: count)
        let raw = Array(repeating: 0xFE as UInt8, count: count)
        return [
            ProtocolCase(id: "1.1.\(index + 1)", sends: [.text(bytes)], echoes: [.text(bytes)]),
            ProtocolCase(id: "1.2.\(index + 1)", sends: [.binary(raw)], echoes: [.binary(raw)]),
            ProtocolCase(id: "1.1.8/\(index + 1)", sends: [.text(bytes)], echoes: [.text(bytes)], pieces: 997),
            ProtocolCase(id: "1.2.8/\(index + 1)", sends: [.binary(raw)], echoes: [.binary(raw)], pieces: 997),
        ]
    }

    static let pings: [ProtocolCase] = {
        let hello = Array("Hello, world!".utf8)
        let raw: [UInt8] = [0x00, 0xFF, 0xFE, 0xFD, 0xFC, 0xFB, 0x00, 0xFF]
        let full = Array(repeating: 0xFE as UInt8, count: 125)
        let ten = (0..<10).map { Array("payload-\($0)".utf8) }
        return [
            ProtocolCase(id: "2.1", sends: [.ping()], echoes: [.pong()]),
            ProtocolCase(id: "2.2", sends: [.ping(hello)], echoes: [.pong(hello)]),
            ProtocolCase(id: "2.3", sends: [.ping(raw)], echoes: [.pong(raw)]),
            ProtocolCase(id: "2.4", sends: [.ping(full)], echoes: [.pong(full)]),
            ProtocolCase(id: "2.5", sends: [.ping(full + [1])], code: 1002),
            ProtocolCase(id: "2.6", sends: [.ping(full)], echoes: [.pong(full)], pieces: 1),
            ProtocolCase(id: "2.7", sends: [.pong()]),
            ProtocolCase(id: "2.8", sends: [.pong(hello)]),
            ProtocolCase(id: "2.9", sends: [.pong(hello), .ping(raw)], echoes: [.pong(raw)]),
            ProtocolCase(id: "2.10", sends: ten.map { .ping($0) }, echoes: ten.map { .pong($0) }),
            ProtocolCase(id: "2.11", sends: ten.map { .ping($0) }, echoes: ten.map { .pong($0) }, pieces: 1),
        ]
    }()

    static let reservedBits: [ProtocolCase] = {
        let hello = Frame.text("Hello")
        let payload = Array("Hello".utf8)
        return [
            ProtocolCase(id: "3.1", sends: [Frame(first: 0x91, payload)], code: 1002),
            ProtocolCase(
                id: "3.2",
                sends: [hello, Frame(first: 0xA1, payload), .ping()],
                echoes: [.text("Hello")],
                code: 1002
            ),
            ProtocolCase(
                id: "3.3",
                sends: [hello, Frame(first: 0xB1, payload), .ping()],
                echoes: [.text("Hello")],
                code: 1002
            ),
            ProtocolCase(
                id: "3.4",
                sends: [hello, Frame(first: 0xC1, payload), .ping()],
                echoes: [.text("Hello")],
                code: 1002,
                pieces: 1
            ),
            ProtocolCase(id: "3.5", sends: [Frame(first: 0xD2, payload)], code: 1002),
            ProtocolCase(id: "3.6", sends: [Frame(first: 0xE9, payload)], code: 1002),
            ProtocolCase(id: "3.7", sends: [Frame(first: 0xF8, payload)], code: 1002),
        ]
    }()

    static let opcodes: [ProtocolCase] = ([3, 4, 5, 6, 7, 11, 12, 13, 14, 15] as [UInt8]).flatMap { opcode in
        let family = opcode < 8 ? "4.1" : "4.2"
        let odd = Frame(first: 0x80 | opcode)
        let full = Frame(first: 0x80 | opcode, Array("reserved".utf8))
        return [
            ProtocolCase(id: "\(family).a.\(opcode)", sends: [odd], code: 1002),
            ProtocolCase(id: "\(family).b.\(opcode)", sends: [full], code: 1002),
            ProtocolCase(
                id: "\(family).c.\(opcode)",
                sends: [.text("Hello"), odd, .ping()],
                echoes: [.text("Hello")],
                code: 1002
            ),
            ProtocolCase(
                id: "\(family).d.\(opcode)",
                sends: [.text("Hello"), full, .ping()],
                echoes: [.text("Hello")],
                code: 1002,
                pieces: 1
            ),
        ]
    }

    static let fragmentation: [ProtocolCase] = {
        let first = Frame.text("fragment1", isFinal: false)
        let last = Frame.more("fragment2")
        let both = RawFrame.text("fragment1fragment2")
        let inside = Array("ping payload".utf8)
        let stray = Frame.more("non-continuation payload")
        let strayOpen = Frame.more("non-continuation payload", isFinal: false)
        let hello = Frame.text("Hello, world!")
        let five: [Frame] = [
            first, .more("fragment2", isFinal: false), .ping(inside), .more("fragment3", isFinal: false),
            .more("fragment4", isFinal: false), .ping(inside), .more("fragment5"),
        ]
        let whole = RawFrame.text("fragment1fragment2fragment3fragment4fragment5")
        var cases = [
            ProtocolCase(id: "5.1", sends: [Frame(first: 0x09, inside), .more(inside)], code: 1002),
            ProtocolCase(id: "5.2", sends: [Frame(first: 0x0A, inside), .more(inside)], code: 1002),
            ProtocolCase(id: "5.18", sends: [first, .text("fragment2")], code: 1002),
            ProtocolCase(id: "5.15", sends: [first, last, strayOpen, hello], echoes: [both], code: 1002),
            ProtocolCase(id: "5.16", sends: [strayOpen, hello, strayOpen, hello], code: 1002),
            ProtocolCase(id: "5.17", sends: [stray, hello, stray, hello], code: 1002),
        ]
        for (name, pieces) in [("whole", nil), ("5", 5), ("1", 1)] as [(String, Int?)] {
            cases += [
                ProtocolCase(id: "5.3 \(name)", sends: [first, last], echoes: [both], pieces: pieces),
                ProtocolCase(
                    id: "5.6 \(name)",
                    sends: [first, .ping(inside), last],
                    echoes: [.pong(inside), both],
                    pieces: pieces
                ),
                ProtocolCase(id: "5.9 \(name)", sends: [stray, hello], code: 1002, pieces: pieces),
                ProtocolCase(id: "5.12 \(name)", sends: [strayOpen, hello], code: 1002, pieces: pieces),
                ProtocolCase(
                    id: "5.19 \(name)",
                    sends: five,
                    echoes: [.pong(inside), .pong(inside), whole],
                    pieces: pieces
                ),
            ]
        }
        return cases
    }()
}
