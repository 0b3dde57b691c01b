import Testing
import TocsinCore

@Suite("Texts compared by bytes")
struct StringBytesTests {
    @Test(
        "are the same where every byte is, whatever their length",
        arguments: [
            "", "a", "fifteen bytes..", "sixteen bytes...", "a text of more than two words of eight bytes", "é🎈",
        ]
    )
    func same(text: String) {
        let copy = String(decoding: Array(text.utf8), as: UTF8.self)
        #expect(text.hasBytes(of: copy) && copy.hasBytes(of: text))
        #expect(!text.hasBytes(of: text + "x") && !(text + "x").hasBytes(of: text))
        for index in text.utf8.indices {
            var bytes = Array(text.utf8)
            bytes[text.utf8.distance(from: text.utf8.startIndex, to: index)] = UInt8(ascii: "#")
            #expect(!text.hasBytes(of: String(decoding: bytes, as: UTF8.self)))
        }
    }

    @Test(
        "differ in two spellings of the same letters, of one length or of two",
        arguments: [
            ("caf\u{E9}", "cafe\u{301}"), ("a\u{301}\u{323}", "a\u{323}\u{301}"), ("K", "\u{212A}"),
            ("one of many letters: a\u{301}\u{323}", "one of many letters: a\u{323}\u{301}"),
        ]
    )
    func spellings(one: String, other: String) {
        #expect(one == other)
        #expect(!one.hasBytes(of: other))
    }
}
