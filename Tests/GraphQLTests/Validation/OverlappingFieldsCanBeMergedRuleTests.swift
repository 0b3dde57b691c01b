import Testing

@Suite("OverlappingFieldsCanBeMerged rule")
struct OverlappingFieldsCanBeMergedRuleTests {
    @Test(
        "fields that are one field, or never meet, are fine",
        arguments: [
            "{ dog { x: name@skip(if: true) } }",
            "{ pet { ... on Dog { volume: bark } ... on Cat { volume: meow } } }",
            "{ dog { ...A ...A } } fragment A on Dog { name at(x: 1, y: 2) at(y: 2, x: 1) }",
            "{ complicated(in: {required: true, int: 1}) complicated(in: {int: 1, required: true}) }",
            "{ human { pets { ... on Dog { x: name } } pets { ... on Cat { x: nickname } } } }",
        ]
    )
    func valid(document: String) throws {
        try expectValid(document)
    }

    @Test(
        "fields of one response name that differ are refused",
        arguments: [
            (
                "{ dog { x: name x: nickname } }",
                [
                    #"Fields "x" conflict because "name" and "nickname" are different fields. Use different aliases on the fields to fetch both if this was intentional. (1:9, 1:17)"#
                ]
            ),
            (
                "{ dog { name name(surname: true) } }",
                [
                    #"Fields "name" conflict because they have differing arguments. Use different aliases on the fields to fetch both if this was intentional. (1:9, 1:14)"#
                ]
            ),
            (
                "{ dog { at(x: 1) at(x: 2) } }",
                [
                    #"Fields "at" conflict because they have differing arguments. Use different aliases on the fields to fetch both if this was intentional. (1:9, 1:18)"#
                ]
            ),
            (
                "{ dog { ...A ...B } } fragment A on Dog { x: name } fragment B on Dog { x: nickname }",
                [
                    #"Fields "x" conflict because "name" and "nickname" are different fields. Use different aliases on the fields to fetch both if this was intentional. (1:43, 1:73)"#
                ]
            ),
            (
                "{ pet { ... on Dog { x: bark } ... on Cat { x: nickname } } }",
                [
                    #"Fields "x" conflict because they return conflicting types "Int" and "String". Use different aliases on the fields to fetch both if this was intentional. (1:22, 1:45)"#
                ]
            ),
            (
                "{ human { relatives { x: name } } human { relatives { x: id } } }",
                [
                    #"Fields "human" conflict because subfields "relatives" conflict because subfields "x" conflict because they return conflicting types "String" and "ID". Use different aliases on the fields to fetch both if this was intentional. (1:3, 1:11, 1:23, 1:35, 1:43, 1:55)"#
                ]
            ),
            (
                "{ pet { ... on Dog { x: mother { y: name } } ... on Cat { x: kitten { y: meow } } } }",
                [
                    #"Fields "x" conflict because subfields "y" conflict because they return conflicting types "String" and "Int". Use different aliases on the fields to fetch both if this was intentional. (1:22, 1:34, 1:59, 1:71)"#
                ]
            ),
            (
                "query ($a: Int, $b: Int) { field(int: $a) field(int: $b) }",
                [
                    #"Fields "field" conflict because they have differing arguments. Use different aliases on the fields to fetch both if this was intentional. (1:28, 1:43)"#
                ]
            ),
            (
                "{ dog { ...A } } fragment A on Dog { mother { ...B } } fragment B on Dog { x: name x: bark }",
                [
                    #"Fields "x" conflict because they return conflicting types "String" and "Int". Use different aliases on the fields to fetch both if this was intentional. (1:76, 1:84)"#
                ]
            ),
        ]
    )
    func invalid(document: String, errors: [String]) throws {
        try expectErrors(errors, in: document)
    }
}
