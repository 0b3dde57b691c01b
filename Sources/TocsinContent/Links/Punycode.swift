/// Reads the labels of international host names (RFC 3492).
enum Punycode {
    private static let base = 36
    private static let tMin = 1
    private static let tMax = 26
    private static let skew = 38
    private static let damp = 700

    /// The characters of a label without its `xn--`; `nil` when it spells none, or plain ASCII.
    static func decode(_ label: ArraySlice<UInt8>) -> [Unicode.Scalar]? {
        var output: [UInt32] = []
        var digits = label
        if let dash = label.lastIndex(of: UInt8(ascii: "-")) {
            output = label[..<dash].map(UInt32.init)
            digits = label[(dash + 1)...]
        }
        guard !digits.isEmpty else { return nil }
        var (n, index, bias) = (128, 0, 72)
        while !digits.isEmpty {
            let start = index
            var (weight, k) = (1, base)
            while true {
                guard let byte = digits.popFirst(), let digit = digit(byte) else { return nil }
                let (step, isTooLarge) = digit.multipliedReportingOverflow(by: weight)
                guard !isTooLarge, step < 0x7FFF_FFFF else { return nil }
                index += step
                let threshold = k <= bias ? tMin : min(k - bias, tMax)
                if digit < threshold { break }
                weight *= base - threshold
                guard weight < 0x7FFF_FFFF else { return nil }
                k += base
            }
            bias = adapted(index - start, output.count + 1, isFirst: start == 0)
            n += index / (output.count + 1)
            index %= output.count + 1
            guard n <= 0x10FFFF, output.count < 63 else { return nil }
            output.insert(UInt32(n), at: index)
            index += 1
        }
        let scalars = output.compactMap { Unicode.Scalar($0) }
        return scalars.count == output.count ? scalars : nil
    }

    private static func digit(_ byte: UInt8) -> Int? {
        switch byte {
        case 0x61...0x7A: Int(byte - 0x61)
        case 0x30...0x39: Int(byte - 0x30) + 26
        default: nil
        }
    }

    private static func adapted(_ delta: Int, _ count: Int, isFirst: Bool) -> Int {
        var delta = isFirst ? delta / damp : delta / 2
        delta += delta / count
        var k = 0
        while delta > (base - tMin) * tMax / 2 {
            delta /= base - tMin
            k += base
        }
        return k + (base - tMin + 1) * delta / (delta + skew)
    }
}

/// Whether letters belong together (UTS #39, in coarse steps).
enum Script {
    private static let scripts: [ClosedRange<UInt32>] = [
        0x00DF...0x024F, 0x0370...0x03FF, 0x0400...0x052F, 0x0530...0x058F, 0x0590...0x05FF, 0x0600...0x077F,
        0x0780...0x07BF, 0x0900...0x097F, 0x0980...0x09FF, 0x0A00...0x0A7F, 0x0A80...0x0AFF, 0x0B00...0x0B7F,
        0x0B80...0x0BFF, 0x0C00...0x0C7F, 0x0C80...0x0CFF, 0x0D00...0x0D7F, 0x0D80...0x0DFF, 0x0E00...0x0E7F,
        0x0E80...0x0EFF, 0x0F00...0x0FFF, 0x1000...0x109F, 0x10A0...0x10FF, 0x1200...0x139F, 0x1780...0x17FF,
        0x1E00...0x1EFF, 0x1F00...0x1FFF, 0x0061...0x007A,
    ]
    /// Chinese, Japanese and Korean, which are written together.
    private static let eastAsian: [ClosedRange<UInt32>] = [
        0x1100...0x11FF, 0x3005...0x318F, 0x31A0...0x31BF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xAC00...0xD7AF,
        0x20000...0x323AF,
    ]
    /// Which further ranges have letters of an earlier one: Latin, and Greek.
    private static let same: [Int: Int] = [24: 0, 25: 1, 26: 0]

    /// Whether all letters are of one known script; digits and hyphens belong to each.
    static func isSingle(_ scalars: [Unicode.Scalar]) -> Bool {
        var found: Int?
        for scalar in scalars {
            if (0x30...0x39).contains(scalar.value) || scalar == "-" { continue }
            guard let script = number(scalar.value), found == nil || found == script else { return false }
            found = script
        }
        return found != nil
    }

    private static func number(_ value: UInt32) -> Int? {
        if eastAsian.contains(where: { $0.contains(value) }) { return scripts.count }
        guard let index = scripts.firstIndex(where: { $0.contains(value) }) else { return nil }
        return same[index] ?? index
    }
}
