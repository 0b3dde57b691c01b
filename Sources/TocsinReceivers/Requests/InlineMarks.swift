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
        let closes = closes(line, mark)
        var (output, index) = ([Unicode.Scalar](), 0)
        output.reserveCapacity(line.count)
        while index < line.count {
            let start = index + mark.count
            if opens(line, at: index, mark), start < line.count, closes[start + 1] < line.count,
                closes[start + 1] - start < reach
            {
                output += line[start..<closes[start + 1]]
                index = closes[start + 1] + mark.count
            } else {
                output.append(line[index])
                index += 1
            }
        }
        return output
    }

    /// For each position the next one at or behind it where a pair may end; a large number where
    /// there is none.
    private static func closes(_ line: [Unicode.Scalar], _ mark: [Unicode.Scalar]) -> [Int] {
        var closes = [Int](repeating: .max, count: line.count + 2)
        for index in stride(from: line.count - 1, to: 0, by: -1) {
            let after = index + mark.count
            let ends =
                line[index] == mark[0] && line[index...].starts(with: mark) && line[index - 1] != " "
                && (after == line.count || !isWord(line[after]) && line[after] != mark[0])
            closes[index] = ends ? index : closes[index + 1]
        }
        return closes
    }

    private static func opens(_ line: [Unicode.Scalar], at index: Int, _ mark: [Unicode.Scalar]) -> Bool {
        guard line[index] == mark[0], line[index...].starts(with: mark), index + mark.count < line.count else {
            return false
        }
        let next = line[index + mark.count]
        return next != " " && next != mark[0] && (index == 0 || !isWord(line[index - 1]))
    }

    private static func isWord(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
    }
}
