extension JSONReader {
    /// RFC 8259 §6: `number = [ minus ] int [ frac ] [ exp ]`.
    ///
    /// Whole numbers that fit 64 bits become `int`.
    mutating func readNumber() throws(JSONError) -> JSONValue {
        let start = position
        let isNegative = take(UInt8(ascii: "-"))
        let firstDigit = position
        var magnitude: UInt64 = 0
        var fits = true
        while let digit = digit() {
            let (product, carry) = magnitude.multipliedReportingOverflow(by: 10)
            let (sum, overflow) = product.addingReportingOverflow(UInt64(digit))
            fits = fits && !carry && !overflow
            magnitude = sum
            position += 1
        }
        guard position > firstDigit else { throw unexpected("a digit") }
        if position - firstDigit > 1, bytes[firstDigit] == UInt8(ascii: "0") {
            position = firstDigit
            throw error("A number must not begin with a superfluous zero")
        }
        let isWhole = try !skipFractionAndExponent()
        guard position - start <= limits.maximumNumberLength else {
            position = start
            throw error("A number has more than \(limits.maximumNumberLength) characters")
        }
        if isWhole, fits, let number = signed(magnitude, isNegative: isNegative) { return .int(number) }
        return .double(try double(from: start))
    }

    private func digit() -> UInt8? {
        guard position < bytes.count else { return nil }
        let value = bytes[position] &- UInt8(ascii: "0")
        return value < 10 ? value : nil
    }

    private func signed(_ magnitude: UInt64, isNegative: Bool) -> Int64? {
        if !isNegative { return Int64(exactly: magnitude) }
        if magnitude == Int64.min.magnitude { return Int64.min }
        return Int64(exactly: magnitude).map { -$0 }
    }

    /// Whether there was a fraction or an exponent.
    private mutating func skipFractionAndExponent() throws(JSONError) -> Bool {
        var found = false
        if take(UInt8(ascii: ".")) {
            try skipDigits()
            found = true
        }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            try skipDigits()
            found = true
        }
        return found
    }

    private mutating func skipDigits() throws(JSONError) {
        guard digit() != nil else { throw unexpected("a digit") }
        while digit() != nil { position += 1 }
    }

    private mutating func double(from start: Int) throws(JSONError) -> Double {
        let text = String(decoding: UnsafeBufferPointer(rebasing: bytes[start..<position]), as: UTF8.self)
        guard let number = Double(text), number.isFinite else {
            position = start
            throw error("The number \(text) is too large")
        }
        return number
    }
}
