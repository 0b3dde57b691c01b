import JSON
import Testing

@Suite("JSON writer")
struct JSONWriterTests {
    @Test(
        "a value is written compactly",
        arguments: [
            (.null, "null"), (true, "true"), (0, "0"), (-10, "-10"), (.int(.min), "-9223372036854775808"),
            (.int(.max), "9223372036854775807"), (0.1, "0.1"), (.double(.infinity), "null"), (.double(.nan), "null"),
            ("a\"b\\c/\n\t\u{1}\u{7F}é😀", #""a\"b\\c/\n\t\u0001"# + "\u{7F}é😀\""),
            ("12345678\"1234567\\123456\n", #""12345678\"1234567\\123456\n""#), ("", "\"\""),
            (["b": 1, "a": [1, "x", nil]], #"{"b":1,"a":[1,"x",null]}"#), ([:], "{}"), ([], "[]"),
        ] as [(JSONValue, String)]
    )
    func compact(value: JSONValue, expected: String) {
        #expect(value.serializedString() == expected)
    }

    @Test("every single character survives a round trip at every offset of a word")
    func characters() throws {
        for scalar in (0...0x24F).compactMap(Unicode.Scalar.init) {
            for offset in 0..<9 {
                let text = String(repeating: "x", count: offset) + String(scalar) + "yyyyyyyy"
                #expect(try JSONParser.parse(JSONValue.string(text).serialized()) == .string(text))
            }
        }
    }

    @Test("truncating takes back what was written last")
    func truncate() {
        var writer = JSONWriter()
        writer.raw("{")
        let mark = writer.count
        writer.string("gone")
        writer.truncate(to: mark)
        writer.byte(UInt8(ascii: "}"))
        #expect(String(decoding: writer.bytes, as: UTF8.self) == "{}")
    }
}

@Suite("JSON object")
struct JSONObjectTests {
    @Test("members keep their order, few or many, through replacing and removing", arguments: [3, 16, 17, 18, 200])
    func order(count: Int) {
        var object = JSONObject((0..<count).map { ("k\($0)", .int(Int64($0))) })
        object["k1"] = "new"
        object["k0"] = nil
        object["absent"] = nil
        #expect(object.count == count - 1)
        #expect(object.keys == (1..<count).map { "k\($0)" })
        #expect(object["k1"] == "new" && object["k0"] == nil)
        #expect(object["k\(count - 1)"] == (count == 2 ? "new" : .int(Int64(count - 1))))
    }

    @Test("accessors give the value only for their own kind")
    func accessors() {
        let value: JSONValue = ["s": "x", "i": 1, "d": 2.0, "b": true, "a": [1], "o": [:], "n": nil]
        #expect(value["s"]?.stringValue == "x" && value["i"]?.stringValue == nil)
        #expect(value["i"]?.intValue == 1 && value["d"]?.intValue == 2 && value["i"]?.doubleValue == 1)
        #expect(value["b"]?.boolValue == true && value["a"]?[0] == 1 && value["a"]?[1] == nil)
        #expect(value["o"]?.objectValue == [:] && value["n"]?.isNull == true && value["zz"] == nil)
    }
}
