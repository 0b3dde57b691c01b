extension ProtocolCase {
    /// Some messages in frames of random sizes, with pings between, written in random pieces.
    static func random(_ random: inout some RandomNumberGenerator, id: String) -> ProtocolCase {
        var one = ProtocolCase(id: id, sends: [])
        for _ in 0..<Int.random(in: 1...6, using: &random) { one.append(&random) }
        one.pieces = Int.random(in: 1...700, using: &random)
        return one
    }

    private mutating func append(_ random: inout some RandomNumberGenerator) {
        let isText = Bool.random(using: &random)
        let count = Int.random(in: 0...([5, 130, 3000].randomElement(using: &random) ?? 5), using: &random)
        let bytes =
            isText ? Self.text(count, &random) : (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
        var rest = bytes[...]
        var opcode: UInt8 = isText ? 1 : 2
        while true {
            let size = Bool.random(using: &random) ? rest.count : Int.random(in: 0...rest.count, using: &random)
            let isLast = size == rest.count && Bool.random(using: &random)
            sends.append(Frame(first: (isLast ? 0x80 : 0) | opcode, Array(rest.prefix(size))))
            rest = rest.dropFirst(size)
            opcode = 0
            if isLast { break }
            if Int.random(in: 0..<4, using: &random) == 0 { ping(&random) }
        }
        echoes.append(isText ? .text(bytes) : .binary(bytes))
    }

    /// A ping or a pong in the middle; only the ping is answered.
    private mutating func ping(_ random: inout some RandomNumberGenerator) {
        let payload = Array(
            repeating: UInt8.random(in: 0...255, using: &random),
            count: Int.random(in: 0...125, using: &random)
        )
        guard Bool.random(using: &random) else { return sends.append(.pong(payload)) }
        sends.append(.ping(payload))
        echoes.append(.pong(payload))
    }

    private static func text(_ count: Int, _ random: inout some RandomNumberGenerator) -> [UInt8] {
        let characters: [Character] = [
            "a", "é", "\u{0}", "\u{7FF}", "\u{800}", "\u{FFFD}", "\u{D7FF}", "\u{E000}", "🏃", "\u{10FFFF}",
        ]
        return (0..<count / 3).flatMap { _ in Array((characters.randomElement(using: &random) ?? "a").utf8) }
    }
}
