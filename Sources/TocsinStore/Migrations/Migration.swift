package import TocsinCore

/// One numbered file of `migrations/`.
package struct Migration: Sendable, Hashable {
    /// The number its file name begins with; migrations are applied in order of it.
    package var number: Int
    /// The file's name.
    package var name: String
    /// The SQL of the file.
    package var text: String

    /// A migration as its file has it.
    package init(number: Int, name: String, text: String) {
        self.number = number
        self.name = name
        self.text = text
    }

    /// The files for a database: those for all databases and those for this one, by number.
    package static func embedded(for dialect: Dialect) throws(StoreError) -> [Migration] {
        try migrations(of: EmbeddedMigrations.files, for: dialect)
    }

    /// As `embedded`, of any files.
    package static func migrations(
        of files: [(name: String, text: String)],
        for dialect: Dialect
    ) throws(StoreError) -> [Migration] {
        var found: [Migration] = []
        for file in files {
            let parts = file.name.split(separator: ".")
            guard let number = Int(file.name.prefix(4)), (2...3).contains(parts.count) else {
                throw .mismatch(reason: "\(file.name) is not named like 0001_purpose.sql or 0001_purpose.sqlite.sql.")
            }
            guard parts.count == 2 || parts[1] == dialect.rawValue else { continue }
            found.append(Migration(number: number, name: file.name, text: file.text))
        }
        found.sort { $0.number < $1.number }
        for (index, migration) in found.enumerated() where migration.number != index + 1 {
            throw .mismatch(reason: "Migrations must be numbered 1, 2, 3…; \(migration.name) is number \(index + 1).")
        }
        return found
    }

    /// Whether programs that do not know it still work on its tables: its first line
    /// begins with `-- additive`.
    ///
    /// The database remembers this, because older programs do not have the file. So old and new
    /// nodes run side by side during an upgrade.
    package var isAdditive: Bool { text.hasPrefix("-- additive") }

    /// FNV-1a with 64 bits, in hexadecimal: finds edits made in error, which is all it is for.
    package var checksum: String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in text.utf8 {
            hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
        }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
}

/// A migration, and when it was applied.
package struct MigrationStatus: Sendable, Hashable {
    /// The migration's number.
    package var number: Int
    /// The name of its file.
    package var name: String
    /// nil: not yet.
    package var appliedAt: Timestamp?
    /// Whether programs from before it can go on; nil: this program does not know the file.
    package var isAdditive: Bool?
}
