/// Marks around words, as Markdown and Slack have them: `*bold*`, `_italic_`, `` `code` ``.
enum InlineMarks {
    /// How far apart two marks of a pair may be, in characters.
    private static let reach = 500

    /// The line without pairs of these marks; single ones, and those inside words, stay.
    static func removed(from line: String, _ marks: [String]) -> String {
        guard line.unicodeScalars.contains(where: { "*_`~".unicodeScalars.contains($0) }) else { return line }
        var scalars = Array(line.unicodeScalars)
        for mark in marks { scalars = removed(from: scalars, Array(mark.unicodeScalars)) }
        return String(String.UnicodeScalarView(scalars))
    }

    private static func removed(from line: [Unicode.Scalar], _ mark: [Unicode.Scalar]) -> [Unicode.Scalar] {
        var (output, index) = ([Unicode.Scalar](), 0)
        output.reserveCapacity(line.count)
        while index < line.count {
            if opens(line, at: index, mark), let close = close(line, from: index + mark.count, mark) {
                output += line[index + mark.count..<close]
                index = close + mark.count
            } else {
                output.append(line[index])
                index += 1
            }
        }
        return output
    }

    private static func opens(_ line: [Unicode.Scalar], at index: Int, _ mark: [Unicode.Scalar]) -> Bool {
        guard line[index...].starts(with: mark), index + mark.count < line.count else { return false }
        let next = line[index + mark.count]
        return next != " " && next != mark[0] && (index == 0 || !isWord(line[index - 1]))
    }

    private static func close(_ line: [Unicode.Scalar], from start: Int, _ mark: [Unicode.Scalar]) -> Int? {
        for index in start..<min(line.count, start + reach)
        where index > start && line[index] == mark[0] && line[index...].starts(with: mark) {
            let after = index + mark.count
            if line[index - 1] != " ", after == line.count || !isWord(line[after]) && line[after] != mark[0] {
                return index
            }
        }
        return nil
    }

    private static func isWord(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
    }
}
