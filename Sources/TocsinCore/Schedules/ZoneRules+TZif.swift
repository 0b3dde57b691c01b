extension ZoneRules {
    /// Reads a file of the system's time zone data (RFC 9636); nil when it is none that can be
    /// used.
    ///
    /// Files that count leap seconds are refused: our seconds do not.
    package init?(tzif bytes: [UInt8]) {
        var reader = TZifReader(bytes)
        guard var header = reader.header() else { return nil }
        var timeBytes = 4
        if header.version >= UInt8(ascii: "2") {
            guard reader.skip(header.size(timeBytes: 4)), let second = reader.header() else { return nil }
            (header, timeBytes) = (second, 8)
        }
        guard let block = reader.block(header, timeBytes: timeBytes) else { return nil }
        var changes = block.changes
        if timeBytes == 8 {
            guard let footer = reader.footer() else { return nil }
            if !footer.isEmpty {
                guard let tail = ZoneTail(footer) else { return nil }
                changes += tail.changes(after: changes.last?.at)
            }
        }
        self.init(firstOffset: block.firstOffset, changes: changes)
    }
}

/// Walks the bytes of a zone's file.
private struct TZifReader {
    private let bytes: [UInt8]
    private var position = 0
    private static let maximumCount = 20_000

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    struct Header {
        let version: UInt8
        let utcMarks, standardMarks, leaps, times, types, characters: Int

        func size(timeBytes: Int) -> Int {
            times * (timeBytes + 1) + types * 6 + characters + leaps * (timeBytes + 4) + standardMarks + utcMarks
        }
    }

    mutating func skip(_ count: Int) -> Bool {
        guard count >= 0, count <= bytes.count - position else { return false }
        position += count
        return true
    }

    mutating func header() -> Header? {
        guard bytes.dropFirst(position).starts(with: "TZif".utf8), skip(4), let version = integer(1), skip(15) else {
            return nil
        }
        var counts: [Int] = []
        for _ in 0..<6 {
            guard let count = integer(4), (0...Int64(Self.maximumCount)).contains(count) else { return nil }
            counts.append(Int(count))
        }
        guard counts[2] == 0, counts[4] > 0 else { return nil }
        return Header(
            version: UInt8(truncatingIfNeeded: version),
            utcMarks: counts[0],
            standardMarks: counts[1],
            leaps: counts[2],
            times: counts[3],
            types: counts[4],
            characters: counts[5]
        )
    }

    mutating func block(_ header: Header, timeBytes: Int) -> (firstOffset: Int64, changes: [ZoneRules.Change])? {
        var (times, kinds, offsets): ([Int64], [Int], [Int64]) = ([], [], [])
        for _ in 0..<header.times {
            guard let time = integer(timeBytes), times.last.map({ $0 < time }) ?? true else { return nil }
            times.append(time)
        }
        for _ in 0..<header.times {
            guard let kind = integer(1).map({ Int($0 & 0xFF) }), kind < header.types else { return nil }
            kinds.append(kind)
        }
        for _ in 0..<header.types {
            guard let offset = integer(4), abs(offset) <= 26 * 3600, skip(2) else { return nil }
            offsets.append(offset)
        }
        guard skip(header.characters + header.standardMarks + header.utcMarks) else { return nil }
        return (offsets[0], zip(times, kinds).map { ZoneRules.Change(at: $0, offset: offsets[$1]) })
    }

    /// The text between two line ends that says what follows the last change.
    mutating func footer() -> String? {
        guard position < bytes.count, bytes[position] == UInt8(ascii: "\n") else { return nil }
        let rest = bytes[(position + 1)...]
        guard let end = rest.firstIndex(of: UInt8(ascii: "\n")), end - position <= 256 else { return nil }
        return String(decoding: rest[..<end], as: UTF8.self)
    }

    /// A signed number of so many bytes, the highest first.
    private mutating func integer(_ count: Int) -> Int64? {
        guard count <= bytes.count - position else { return nil }
        var value: Int64 = count < 8 && bytes[position] >= 0x80 ? -1 : 0
        for byte in bytes[position..<(position + count)] { value = value << 8 | Int64(byte) }
        position += count
        return value
    }
}
