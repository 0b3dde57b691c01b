/// The rows of a CSV file (RFC 4180), read piece by piece: memory is bounded by a row.
struct CSVRows: ~Copyable {
    /// A row of fields, which begins in this line.
    struct Row {
        let line: Int
        /// Empty where the row could not be read.
        let fields: [String]
        /// Why it could not be read, as the end of a sentence.
        let fault: String?
    }

    private let file: Int32
    private var piece: [UInt8] = []
    private var position = 0
    private var line = 1
    private var isAtStart = true
    private static let maximumRowBytes = 64 << 10
    private static let pieceBytes = 64 << 10
    private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]

    init(path: String) throws(SystemFile.Failure) {
        file = try SystemFile.reading(path)
    }

    deinit { SystemFile.close(file) }

    /// The next row that is not empty; nil at the end.
    mutating func next() throws(SystemFile.Failure) -> Row? {
        while let byte = try peek(), byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") { _ = try take() }
        guard try peek() != nil else { return nil }
        var draft = Draft(line: line)
        while let byte = try take() {
            if draft.isQuoted, byte == UInt8(ascii: "\""), try peek() == byte {
                _ = try take()
                draft.append(byte, maximumBytes: Self.maximumRowBytes)
            } else if draft.takes(byte, maximumBytes: Self.maximumRowBytes) {
                break
            }
        }
        return draft.finished
    }

    private mutating func peek() throws(SystemFile.Failure) -> UInt8? {
        if position == piece.count {
            piece = try SystemFile.piece(of: file, bytes: Self.pieceBytes)
            // A mark of UTF-8 at the beginning is no part of the first name.
            position = isAtStart && piece.starts(with: Self.mark) ? Self.mark.count : 0
            isAtStart = false
        }
        return position < piece.count ? piece[position] : nil
    }

    private mutating func take() throws(SystemFile.Failure) -> UInt8? {
        guard let byte = try peek() else { return nil }
        position += 1
        if byte == UInt8(ascii: "\n") { line += 1 }
        return byte
    }

    /// A row while its bytes come in.
    private struct Draft {
        let line: Int
        private(set) var isQuoted = false
        private var wasQuoted = false
        private var field: [UInt8] = []
        private var fields: [[UInt8]] = []
        private var count = 0
        private var fault: String?

        init(line: Int) { self.line = line }

        /// Adds a byte to the field.
        mutating func append(_ byte: UInt8, maximumBytes: Int) {
            if counts(maximumBytes) { field.append(byte) }
        }

        /// Counts a byte that is kept in some way; false: the row has too many.
        private mutating func counts(_ maximumBytes: Int) -> Bool {
            count += 1
            if count > maximumBytes { fault = fault ?? "it is longer than \(maximumBytes) bytes" }
            return count <= maximumBytes
        }

        /// Takes a byte with what it means; whether the row ends with it.
        mutating func takes(_ byte: UInt8, maximumBytes: Int) -> Bool {
            switch byte {
            case UInt8(ascii: "\"") where isQuoted: isQuoted = false
            case UInt8(ascii: "\"") where field.isEmpty && !wasQuoted: (isQuoted, wasQuoted) = (true, true)
            case UInt8(ascii: ",") where !isQuoted: endField(maximumBytes)
            case UInt8(ascii: "\n") where !isQuoted: return true
            case UInt8(ascii: "\r") where !isQuoted: break
            default: append(byte, maximumBytes: maximumBytes)
            }
            return false
        }

        private mutating func endField(_ maximumBytes: Int) {
            if counts(maximumBytes) { fields.append(field) }
            (field, wasQuoted) = ([], false)
        }

        /// The row as it is when its last byte has come.
        var finished: Row {
            if let fault { return Row(line: line, fields: [], fault: fault) }
            if isQuoted { return Row(line: line, fields: [], fault: "a quoted field of it does not end") }
            let texts = (fields + [field]).compactMap { String(validating: $0, as: UTF8.self) }
            guard texts.count == fields.count + 1 else {
                return Row(line: line, fields: [], fault: "it is not text in UTF-8")
            }
            return Row(line: line, fields: texts, fault: nil)
        }
    }
}
