import TocsinCore

/// Zones without files: a file's bytes that only say what follows from 1970 on.
enum TestZones {
    /// Clocks of a text of `TZ`.
    static func zone(_ text: String) -> ZoneRules? { ZoneRules(tzif: file(text)) }

    /// The European Union's changes, so many seconds east of UTC.
    static func europe(standard: Int) -> ZoneRules {
        zone("XST-\(standard / 3600)XDT,M3.5.0,M10.5.0/3") ?? .utc
    }

    /// A file of version 2 without changes and with this tail.
    static func file(_ tail: String, magic: String = "TZif") -> [UInt8] {
        let header = Array(magic.utf8) + [UInt8(ascii: "2")] + [UInt8](repeating: 0, count: 15)
        let counts: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 4]
        let block: [UInt8] = [0, 0, 0, 0, 0, 0] + Array("UTC\0".utf8)
        let whole = header + counts + block
        return whole + whole + Array("\n\(tail)\n".utf8)
    }
}
