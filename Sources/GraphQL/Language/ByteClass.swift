/// What a byte begins, so that the lexer asks once for each token.
enum ByteClass {
    static let blank = UInt8(ascii: "w")
    static let nameStart = UInt8(ascii: "n")
    static let digit = UInt8(ascii: "d")
    static let punctuator = UInt8(ascii: "p")
    static let comment = UInt8(ascii: "c")
    static let byteOrderMark = UInt8(ascii: "b")

    /// The class of each byte.
    ///
    /// A literal, because its address is a constant: no array to retain or check.
    static var table: UnsafePointer<UInt8> { letters.utf8Start }

    /// White space and commas, punctuators, quotes, comments, digits, the spread, and `x`
    /// for what begins nothing.
    private static let letters: StaticString = """
        xxxxxxxxxwwxxwxxxxxxxxxxxxxxxxxx\
        wpqcpxpxppxxwdsxddddddddddpxxpxx\
        pnnnnnnnnnnnnnnnnnnnnnnnnnnpxpxn\
        xnnnnnnnnnnnnnnnnnnnnnnnnnnpppxx\
        xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\
        xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\
        xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\
        xxxxxxxxxxxxxxxbxxxxxxxxxxxxxxxx
        """
}

extension UnsafeBufferPointer<UInt8> {
    /// A byte whose offset the caller has compared with `count`.
    subscript(unchecked position: Int) -> UInt8 {
        // Unsafe, because the check was made: the loops over all bytes would else make it twice.
        baseAddress.unsafelyUnwrapped[position]
    }

    /// Eight bytes, the first lowest; the caller has compared the end with `count`.
    private func word(at position: Int) -> UInt64 {
        UInt64(
            littleEndian: UnsafeRawPointer(baseAddress.unsafelyUnwrapped)
                .loadUnaligned(fromByteOffset: position, as: UInt64.self)
        )
    }

    /// The first byte from here on that belongs to no name (GraphQL §2.1.9); eight bytes at a time.
    @inline(__always)
    func endOfName(from start: Int) -> Int {
        var position = start
        while position + 8 <= count {
            let others = Self.highBitsOfOthers(word(at: position))
            guard others == 0 else { return position + others.trailingZeroBitCount >> 3 }
            position += 8
        }
        while position < count {
            let byte = self[unchecked: position]
            guard (byte | 0x20) &- 0x61 < 26 || byte &- 0x30 < 10 || byte == 0x5F else { break }
            position += 1
        }
        return position
    }

    /// The high bit of each byte that is neither letter, digit nor underscore.
    private static func highBitsOfOthers(_ word: UInt64) -> UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let high = ones << 7
        let low = word & ~high
        let lowercase = low | ones * 0x20
        // Adding carries into a byte's high bit exactly when the byte is at least so large;
        // no byte reaches the next.
        let letters = (lowercase + ones * (0x80 - 0x61)) & ~(lowercase + ones * (0x80 - 0x7B))
        let digits = (low + ones * (0x80 - 0x30)) & ~(low + ones * (0x80 - 0x3A))
        let underscores = ~((low ^ ones * 0x5F) + ones * 0x7F)
        return (~(letters | digits | underscores) | word) & high
    }

    /// The first byte from here on that is no white space
    /// (GraphQL §2.1.2, §2.1.3, §2.1.5), indentation at a leap.
    @inline(__always)
    func endOfBlanks(from start: Int) -> Int {
        var position = start
        while position + 8 <= count {
            let others = word(at: position) ^ 0x2020_2020_2020_2020
            guard others == 0 else {
                position += others.trailingZeroBitCount >> 3
                break
            }
            position += 8
        }
        while position < count {
            let byte = self[unchecked: position]
            guard byte <= 0x2C, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 || byte == 0x2C else {
                break
            }
            position += 1
        }
        return position
    }
}
