import Glibc

extension UnsafeRawBufferPointer {
    /// Where these bytes first stand; nil when they do not.
    func firstPlace(of text: [UInt8]) -> Int? {
        guard let base = baseAddress, let first = text.first, count >= text.count else { return nil }
        var place = 0
        while let hit = memchr(base + place, Int32(first), count - text.count + 1 - place) {
            place = base.distance(to: UnsafeRawPointer(hit))
            if memcmp(base + place, text, text.count) == 0 { return place }
            place += 1
        }
        return nil
    }
}
