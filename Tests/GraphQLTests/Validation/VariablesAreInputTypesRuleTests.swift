import Testing

@Suite("VariablesAreInputTypes rule")
struct VariablesAreInputTypesRuleTests {
    @Test(
        "scalars, enums and input objects are fine",
        arguments: [
            "query ($a: Int, $b: [Color!], $c: Complex) { field(int: $a) colors(in: $b) complicated(in: $c) }"
        ]
    )
    func valid(document: String) throws {
        try expectValid(document)
    }

    @Test(
        "objects, interfaces and unions are refused",
        arguments: [
            (
                "query ($a: Dog) { field(int: $a) }",
                [
                    #"Variable "$a" of type "Dog" used in position expecting type "Int". (1:8, 1:30)"#,
                    #"Variable "$a" cannot be non-input type "Dog". (1:12)"#,
                ]
            ),
            (
                "query ($b: [[CatOrDog!]]!) { field(int: $b) }",
                [
                    #"Variable "$b" of type "[[CatOrDog!]]!" used in position expecting type "Int". (1:8, 1:41)"#,
                    #"Variable "$b" cannot be non-input type "[[CatOrDog!]]!". (1:12)"#,
                ]
            ),
            (
                "query ($b: Pet) { field(int: $b) }",
                [
                    #"Variable "$b" of type "Pet" used in position expecting type "Int". (1:8, 1:30)"#,
                    #"Variable "$b" cannot be non-input type "Pet". (1:12)"#,
                ]
            ),
        ]
    )
    func invalid(document: String, errors: [String]) throws {
        try expectErrors(errors, in: document)
    }
}
