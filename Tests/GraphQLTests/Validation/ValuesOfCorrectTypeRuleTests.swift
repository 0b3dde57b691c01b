import Testing

@Suite("ValuesOfCorrectType rule")
struct ValuesOfCorrectTypeRuleTests {
    @Test(
        "values of the right type are fine",
        arguments: [
            #"{ field(int: 1, float: 1, string: "s", id: 1, boolean: true, color: RED) x: field(int: null, float: 1.5e3, id: "x") strings(in: "one") colors(in: [RED, GREEN]) }"#,
            #"{ complicated(in: {required: true, list: ["a", null], int: 3}) oneOf(in: {a: "x"}) any(in: {deep: [1, {a: RED}]}) }"#,
            "query ($a: Complex = {required: true}, $b: [Int] = [1]) { complicated(in: $a) ints(in: $b) }",
        ]
    )
    func valid(document: String) throws {
        try expectValid(document)
    }

    @Test(
        "values of another type are refused",
        arguments: [
            (
                #"{ field(int: "x", float: "y", string: 1, id: 1.5, boolean: 2, color: "RED") }"#,
                [
                    #"Int cannot represent non-integer value: "x" (1:14)"#,
                    #"Float cannot represent non numeric value: "y" (1:26)"#,
                    "String cannot represent a non string value: 1 (1:39)",
                    "ID cannot represent a non-string and non-integer value: 1.5 (1:46)",
                    "Boolean cannot represent a non boolean value: 2 (1:60)",
                    #"Enum "Color" cannot represent non-enum value: "RED". (1:70)"#,
                ]
            ),
            (
                #"{ field(int: 2147483648, float: RED, string: RED, boolean: "true", color: MAUVE) x: field(int: 1.0, id: true, string: [1]) }"#,
                [
                    "Int cannot represent non 32-bit signed integer value: 2147483648 (1:14)",
                    "Float cannot represent non numeric value: RED (1:33)",
                    "String cannot represent a non string value: RED (1:46)",
                    #"Boolean cannot represent a non boolean value: "true" (1:60)"#,
                    #"Value "MAUVE" does not exist in "Color" enum. (1:75)"#,
                    "Int cannot represent non-integer value: 1.0 (1:96)",
                    "ID cannot represent a non-string and non-integer value: true (1:105)",
                    "String cannot represent a non string value: [1] (1:119)",
                ]
            ),
            (
                #"{ strings(in: ["a", 2]) required(int: null) }"#,
                [
                    "String cannot represent a non string value: 2 (1:21)",
                    #"Expected value of type "Int!", found null. (1:39)"#,
                ]
            ),
            (
                #"{ complicated(in: {int: "x", unknown: 1}) }"#,
                [
                    #"Field "Complex.required" of required type "Boolean!" was not provided. (1:19)"#,
                    #"Int cannot represent non-integer value: "x" (1:25)"#,
                    #"Field "unknown" is not defined by type "Complex". (1:30)"#,
                ]
            ),
            (
                "{ complicated(in: 3) y: complicated(in: {required: null, nonNull: null}) }",
                [
                    #"Expected value of type "Complex", found 3. (1:19)"#,
                    #"Expected value of type "Boolean!", found null. (1:52)"#,
                    #"Expected value of type "Boolean!", found null. (1:67)"#,
                ]
            ),
            (
                #"{ a: oneOf(in: {}) b: oneOf(in: {a: "x", b: 1}) c: oneOf(in: {a: null}) }"#,
                [
                    #"OneOf Input Object "OneOf" must specify exactly one key. (1:16)"#,
                    #"OneOf Input Object "OneOf" must specify exactly one key. (1:33)"#,
                    #"Field "OneOf.a" must be non-null. (1:62)"#,
                ]
            ),
            (
                #"query ($a: Int = "x", $b: Complex = {list: [1]}) { field(int: $a) complicated(in: $b) }"#,
                [
                    #"Int cannot represent non-integer value: "x" (1:18)"#,
                    #"Field "Complex.required" of required type "Boolean!" was not provided. (1:37)"#,
                    "String cannot represent a non string value: 1 (1:45)",
                ]
            ),
        ]
    )
    func invalid(document: String, errors: [String]) throws {
        try expectErrors(errors, in: document)
    }
}
