extension UnsafeRawBufferPointer {
    /// The place after the first occurrence of a text.
    func end(of text: StaticString) -> Int? {
        guard count >= text.utf8CodeUnitCount else { return nil }
        return text.withUTF8Buffer { text in
            for start in 0...(count - text.count) where self[start] == text[0] {
                if self[start..<(start + text.count)].elementsEqual(text) { return start + text.count }
            }
            return nil
        }
    }
}
