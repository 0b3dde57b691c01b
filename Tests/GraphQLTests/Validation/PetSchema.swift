/// Pets and their people, with a field for every kind of value.
let petSchema = """
    directive @onField on FIELD
    directive @onQuery on QUERY
    directive @onVariable on VARIABLE_DEFINITION
    directive @onFragment on FRAGMENT_DEFINITION
    directive @often repeatable on FIELD
    scalar Any
    enum Color { RED GREEN }
    interface Pet { name(surname: Boolean): String nickname: String }
    interface Canine { name(surname: Boolean): String }
    type Dog implements Pet & Canine {
        name(surname: Boolean): String nickname: String color: Color bark: Int barks: Boolean
        knows(word: String): Boolean at(x: Int, y: Int): Boolean mother: Dog
    }
    type Cat implements Pet { name(surname: Boolean): String nickname: String meow: Int meows: Boolean kitten: Cat }
    union CatOrDog = Cat | Dog
    type Human { id: ID name: String pets: [Pet] relatives: [Human!]! }
    input Complex { required: Boolean! nonNull: Boolean! = false int: Int list: [String] }
    input OneOf @oneOf { a: String b: Int }
    type Query {
        dog: Dog cat: Cat pet: Pet either: CatOrDog human(id: ID): Human
        field(int: Int, float: Float, string: String, id: ID, boolean: Boolean, color: Color): String
        strings(in: [String]): String strict(in: [String!]): String ints(in: [Int]): String colors(in: [Color!]): String
        complicated(in: Complex): String oneOf(in: OneOf): String any(in: Any): String
        required(int: Int!): String defaulted(int: Int! = 1): String two(a: Int!, b: Int!): String
    }
    type Mutation { feed: String }
    type Subscription { barks: Dog meows: Cat }
    """
