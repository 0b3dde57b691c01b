package import TocsinCore

/// Takes the parameters of one run of a statement, all of them each time, where `$1` is number 1.
package protocol SQLParameters: AnyObject {
    func bind(_ text: String, at number: Int)
    func bind(_ value: Int64, at number: Int)
    func bind(_ value: Double, at number: Int)
    func bindNull(at number: Int)
    /// A text that is there as bytes.
    func bind(utf8 bytes: [UInt8], at number: Int)
}

extension SQLParameters {
    /// Makes the text and binds it, for drivers without a shorter way.
    package func bind(utf8 bytes: [UInt8], at number: Int) { bind(String(decoding: bytes, as: UTF8.self), at: number) }

    /// The text, or null.
    package func bind(_ text: String?, at number: Int) {
        if let text { bind(text, at: number) } else { bindNull(at: number) }
    }

    /// Binds a value of whichever type it has.
    package func bind(_ value: SQLValue, at number: Int) {
        switch value {
        case .null: bindNull(at: number)
        case .int(let integer): bind(integer, at: number)
        case .double(let double): bind(double, at: number)
        case .text(let text): bind(text, at: number)
        }
    }

    /// The moment in milliseconds, or null.
    package func bind(_ moment: Timestamp?, at number: Int) {
        if let moment { bind(moment.milliseconds, at: number) } else { bindNull(at: number) }
    }
}

extension SQLConnection {
    /// Runs a statement once for each row, whose parameters `bind` gives; for
    /// drivers without a shorter way.
    package func runEach(
        _ sql: String,
        rows: Int,
        bind: (_ row: Int, _ parameters: any SQLParameters) -> Void
    ) throws(StoreError) -> Int {
        let values = CollectedParameters()
        var changed = 0
        for row in 0..<rows {
            values.values.removeAll(keepingCapacity: true)
            bind(row, values)
            changed += try run(sql, values.values)
        }
        return changed
    }
}

/// Parameters as a list.
private final class CollectedParameters: SQLParameters {
    var values: [SQLValue] = []

    func bind(_ text: String, at number: Int) { set(.text(text), at: number) }
    func bind(_ value: Int64, at number: Int) { set(.int(value), at: number) }
    func bind(_ value: Double, at number: Int) { set(.double(value), at: number) }
    func bindNull(at number: Int) { set(.null, at: number) }

    private func set(_ value: SQLValue, at number: Int) {
        while values.count < number { values.append(.null) }
        values[number - 1] = value
    }
}
