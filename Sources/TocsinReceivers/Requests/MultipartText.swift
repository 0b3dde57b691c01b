/// Bodies of several parts (RFC 2046 §5.1), of mails and of forms.
enum MultipartText {
    /// The parts between the boundary's lines, each with its headers; at most so many.
    static func parts(of body: ArraySlice<UInt8>, boundary: String, maximum: Int) -> [ArraySlice<UInt8>] {
        let delimiter = Array("--\(boundary)".utf8)
        guard (1...200).contains(boundary.utf8.count) else { return [] }
        var (parts, start): ([ArraySlice<UInt8>], Int?) = ([], nil)
        var line = body.startIndex
        while line < body.endIndex {
            let end = body[line...].firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? body.endIndex
            if body[line..<end].starts(with: delimiter) {
                if let start { parts.append(withoutLastLineEnd(body[start..<line])) }
                let isLast = body[line..<end].dropFirst(delimiter.count).starts(with: "--".utf8)
                start = isLast ? nil : end
                if isLast || parts.count >= maximum { return parts }
            }
            line = end
        }
        if let start, start <= body.endIndex { parts.append(body[start...]) }
        return parts
    }

    /// The line end before a boundary is the boundary's.
    private static func withoutLastLineEnd(_ part: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var part = part
        if part.last == UInt8(ascii: "\n") { part.removeLast() }
        if part.last == UInt8(ascii: "\r") { part.removeLast() }
        return part
    }
}
