import Glibc
import TocsinStore

/// The parameters of one run of a statement, in PostgreSQL's text format.
final class PostgresParameters: SQLParameters {
    /// What a value is, as far as PostgreSQL has to know.
    enum Kind: UInt8 {
        case null, int, double, text

        /// The type's object identifier; 0 lets the server tell it from where the parameter stands.
        var typeID: UInt32 {
            switch self {
            case .null: 0
            case .int: 20
            // numeric: whole numbers are compared with it exactly.
            case .double: 1700
            case .text: 25
            }
        }

        /// Whether a statement prepared for this kind takes a value of the other.
        func takes(_ other: Kind) -> Bool {
            // What the server took from the place of a null fits all but a
            // fraction among whole numbers.
            other == .null || other == self || self == .null && other != .double
        }
    }

    /// In one place: each change of it is one access.
    private var values = Values()
    /// What the values are.
    var kinds: [Kind] { values.kinds }
    /// Whether a text held a zero byte, which PostgreSQL cannot store.
    var hasZero: Bool { values.hasZero }

    func clear() { values.clear() }

    func bind(_ values: [SQLValue]) {
        clear()
        for (index, value) in values.enumerated() {
            switch value {
            case .null: bindNull(at: index + 1)
            case .int(let number): bind(number, at: index + 1)
            case .double(let number): bind(number, at: index + 1)
            case .text(let text): bind(text, at: index + 1)
            }
        }
    }

    /// All digits of a whole number.
    ///
    /// The shortest text that tells a double from other doubles would not compare as equal to a
    /// whole number.
    private static func decimal(_ number: Double) -> String { Int64(exactly: number).map { "\($0)" } ?? "\(number)" }

    func bind(_ text: String, at number: Int) {
        var text = text
        text.withUTF8 { values.put(.text, at: number, $0) }
    }

    func bind(utf8 bytes: [UInt8], at number: Int) {
        bytes.withUnsafeBufferPointer { values.put(.text, at: number, $0) }
    }

    func bind(_ value: Int64, at number: Int) {
        var digits = String(value)
        digits.withUTF8 { values.put(.int, at: number, $0) }
    }

    func bind(_ value: Double, at number: Int) {
        var digits = Self.decimal(value)
        digits.withUTF8 { values.put(.double, at: number, $0) }
    }

    func bindNull(at number: Int) { values.set(.null, -1, at: number) }

    /// The values as libpq takes them.
    func withValues<Result>(_ body: (_ count: Int32, _ values: UnsafePointer<UnsafePointer<CChar>?>?) -> Result)
        -> Result
    {
        values.withPointers(body)
    }
}

extension PostgresParameters {
    private struct Values {
        private(set) var kinds: [Kind] = []
        private(set) var hasZero = false
        /// Where each value begins in `bytes`, with a zero behind it; -1 for null.
        private var starts: [Int] = []
        private var bytes: [UInt8] = []

        mutating func clear() {
            kinds.removeAll(keepingCapacity: true)
            starts.removeAll(keepingCapacity: true)
            bytes.removeAll(keepingCapacity: true)
            hasZero = false
        }

        mutating func put(_ kind: Kind, at number: Int, _ bytes: UnsafeBufferPointer<UInt8>) {
            if let start = bytes.baseAddress, memchr(start, 0, bytes.count) != nil { hasZero = true }
            set(kind, self.bytes.count, at: number)
            self.bytes.append(contentsOf: bytes)
            self.bytes.append(0)
        }

        mutating func set(_ kind: Kind, _ start: Int, at number: Int) {
            while kinds.count < number - 1 {
                kinds.append(.null)
                starts.append(-1)
            }
            if kinds.count < number {
                kinds.append(kind)
                starts.append(start)
            } else {
                kinds[number - 1] = kind
                starts[number - 1] = start
            }
        }

        func withPointers<Result>(
            _ body: (_ count: Int32, _ values: UnsafePointer<UnsafePointer<CChar>?>?) -> Result
        ) -> Result {
            bytes.withUnsafeBytes { raw in
                let base = raw.baseAddress?.assumingMemoryBound(to: CChar.self)
                let pointers = starts.map { $0 < 0 ? nil : base.map { [start = $0] in $0 + start } }
                return pointers.withUnsafeBufferPointer { body(Int32($0.count), $0.baseAddress) }
            }
        }
    }
}
