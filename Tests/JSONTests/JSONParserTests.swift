import JSON
import Testing

@Suite("JSON parser")
struct JSONParserTests {
    @Test(
        "a valid text gives its value",
        arguments: [
            ("null", .null), (" true ", true), ("false", false), ("0", 0), ("-0", 0), ("12", 12), ("-7", -7),
            ("9223372036854775807", .int(.max)), ("-9223372036854775808", .int(.min)),
            ("9223372036854775808", .double(9_223_372_036_854_775_808)), ("1.5", 1.5), ("1e3", .double(1000)),
            ("-2.5E-1", -0.25), (#""""#, ""), (#""a\"\\\/\b\f\n\r\tz""#, "a\"\\/\u{8}\u{C}\n\r\tz"),
            (#""\u00e9\u0041""#, "éA"), (#""\ud83d\ude00!""#, "😀!"), (#""é😀""#, "é😀"), ("[]", []), ("{}", [:]),
            ("[1, [2],\n{}]", [1, [2], [:]]), (#"{"a":1,"b":{"c":[null]}}"#, ["a": 1, "b": ["c": [nil]]]),
            (#"{"a":1,"b":2,"a":3}"#, ["a": 3, "b": 2]),
        ] as [(String, JSONValue)]
    )
    func valid(text: String, expected: JSONValue) throws {
        #expect(try JSONParser.parse(text) == expected)
        #expect(try JSONParser.parse(Array(text.utf8)) == expected)
        #expect(try JSONParser.parse(Array(text.utf8.reversed()).reversed().lazy.map { $0 }) == expected)
    }

    @Test(
        "an invalid text is refused with its location",
        arguments: [
            ("", 0), ("  ", 2), ("nul", 0), ("truex", 4), ("01", 0), ("-", 1), ("1.", 2), ("1e", 2), ("+1", 0),
            (".5", 0), ("[1,]", 3), ("[1 2]", 3), ("{\"a\" 1}", 5), ("{\"a\":1,}", 7), ("{a:1}", 1), ("'a'", 0),
            ("\"a", 2), ("\"\n\"", 1), (#""\x""#, 2), (#""\u12g4""#, 5), (#""\ud800""#, 1), (#""\udc00""#, 1),
            (#""\ud800\u0041""#, 1), ("1 2", 2), ("NaN", 0), ("1e999", 0), ("\u{FEFF}1", 0), ("/**/1", 0),
        ]
    )
    func invalid(text: String, offset: Int) throws {
        let error = #expect(throws: JSONError.self) { try JSONParser.parse(text) }
        #expect(error?.offset == offset, "\(String(describing: error))")
    }

    @Test("bytes that are not UTF-8 are refused", arguments: [[0x80], [0xC3], [0xED, 0xA0, 0x80], [0xC0, 0xAF]])
    func encoding(bytes: [UInt8]) {
        #expect(throws: JSONError.self) { try JSONParser.parse([0x22] + bytes + [0x22]) }
    }

    @Test("what is not UTF-8, or no ASCII, is seen at every offset of a text", arguments: 0..<20)
    func encodingOffsets(offset: Int) throws {
        let (before, after) = (String(repeating: "a", count: offset), String(repeating: "z", count: 19 - offset))
        #expect(try JSONParser.parse("\"\(before)é\(after)\"") == .string(before + "é" + after))
        #expect(try JSONParser.parse("\"\(before)é\\n\(after)\"") == .string(before + "é\n" + after))
        let bytes = Array("\"\(before)".utf8) + [0xE9] + Array("\(after)\"".utf8)
        #expect(throws: JSONError.self) { try JSONParser.parse(bytes) }
    }

    @Test("an error names line and column")
    func location() {
        let error = #expect(throws: JSONError.self) { try JSONParser.parse("{\n  \"é\": ?\n}") }
        #expect(error?.description == "Expected a value, found '?' (line 2, column 8)")
    }

    @Test("what is beyond a limit is refused, what is at it is not")
    func limits() throws {
        let limits = JSONLimits(maximumBytes: 40, maximumDepth: 3, maximumValues: 5, maximumNumberLength: 6)
        for text in ["[[[]]]", "[1,2,3,4]", "123456", "\"" + String(repeating: "a", count: 38) + "\""] {
            _ = try JSONParser.parse(text, limits: limits)
        }
        for text in ["[[[[]]]]", "[1,2,3,4,5]", "1234567", "\"" + String(repeating: "a", count: 39) + "\""] {
            #expect(throws: JSONError.self) { try JSONParser.parse(text, limits: limits) }
        }
        #expect(throws: JSONError.self) {
            try JSONParser.parse(String(repeating: "[", count: 900_000), limits: JSONLimits(maximumDepth: .max))
        }
    }

    @Test("random bytes never crash, and what is accepted survives a round trip")
    func randomInput() throws {
        let seed = UInt64.random(in: 1...UInt64.max)
        var state = seed
        func next(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        let pieces = [
            "{", "}", "[", "]", ",", ":", "\"", "\\", "\\u", "d83d", "1", "-", "e", ".", "null", "é", " ", "a",
        ]
        for _ in 0..<20_000 {
            let text = (0..<next(12)).map { _ in pieces[next(pieces.count)] }.joined()
            guard let value = try? JSONParser.parse(text) else { continue }
            #expect(try JSONParser.parse(value.serialized()) == value, "seed \(seed): \(text)")
        }
    }
}
