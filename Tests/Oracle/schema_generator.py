"""Random type systems from a seed, as SDL with extensions, descriptions, directives and default values."""

import random

BUILT_IN = ["Int", "Float", "String", "Boolean", "ID"]
LITERALS = {"Int": ["0", "-7", "2147483647"], "Float": ["1.5", "7", "-2e3"], "String": ['"s"', '"é"', '"""b\n  l"""'],
            "Boolean": ["true", "false"], "ID": ['"i"', "4"]}
PLACES = ["QUERY", "MUTATION", "FIELD", "FRAGMENT_SPREAD", "INLINE_FRAGMENT", "FRAGMENT_DEFINITION", "VARIABLE_DEFINITION",
          "OBJECT", "FIELD_DEFINITION", "ARGUMENT_DEFINITION", "ENUM_VALUE", "INPUT_FIELD_DEFINITION", "SCALAR"]


class Schemas:
    """One random schema; `wild` is how often something is done that the rules forbid."""

    def __init__(self, seed, wild=0.0):
        self.random, self.wild = random.Random(seed), wild
        count = self.random.randint
        self.scalars = [f"S{n}" for n in range(count(0, 2))]
        self.enums = {f"E{n}": [f"V{v}" for v in range(count(1, 4))] for n in range(count(1, 3))}
        self.inputs = [f"I{n}" for n in range(count(1, 4))]
        self.interfaces = [f"N{n}" for n in range(count(0, 3))]
        self.objects = [f"O{n}" for n in range(count(1, 4))]
        self.unions = [f"U{n}" for n in range(count(0, 2))]
        self.directives, self.ancestors, self.fields = [], {}, {}

    def chance(self, probability):
        return self.random.random() < probability

    def sdl(self):
        parts = [self.directive(n) for n in range(self.random.randint(0, 3))]
        parts += [f"scalar {name}" + self.specified() for name in self.scalars]
        parts += [self.enum(name) for name in self.enums] + [self.input(name) for name in self.inputs]
        parts += [self.composite("interface", name) for name in self.interfaces]
        parts += [self.composite("type", name) for name in self.objects]
        parts += [self.union(name) for name in self.unions]
        roots = self.random.choice([["Query"], ["Query", "Mutation"], ["Query", "Mutation", "Subscription"], ["Root"]])
        parts += [self.composite("type", name) for name in roots]
        if roots == ["Root"]:
            parts.append("schema { query: Root }" if not self.chance(self.wild) else "schema { query: Root mutation: Nope }")
        self.random.shuffle(parts)
        if self.chance(self.wild):
            parts.append(self.random.choice(parts))
        return "\n".join(self.described(part) for part in parts)

    def described(self, part):
        return f'"Of {part[:3]}é." ' + part if self.chance(0.2) and not part.startswith("extend") else part

    def specified(self):
        return ' @specifiedBy(url: "https://example.com/s")' if self.chance(0.3) else ""

    def directive(self, number):
        name = f"d{number}"
        places = self.random.sample(PLACES, self.random.randint(1, 4))
        arguments = self.arguments(f"@{name}", plain=True)
        repeatable = " repeatable" if self.chance(0.3) else ""
        self.directives.append((name, places, bool(repeatable)))
        return f"directive @{name}{arguments}{repeatable} on " + " | ".join(places)

    def applied(self, place):
        if self.chance(self.wild):
            return self.random.choice([" @nope", " @skip(if: true)", " @deprecated @deprecated", " @deprecated(reason: 1)"])
        fitting = [name for name, places, _ in self.directives if place in places]
        return f" @{self.random.choice(fitting)}" if fitting and self.chance(0.3) else ""

    def enum(self, name):
        values = [value + self.deprecated() + self.applied("ENUM_VALUE") for value in self.enums[name]]
        return self.split("enum", name, values)

    def input(self, name):
        one_of = self.chance(0.25)
        fields = [self.value(f"f{n}", name, one_of) for n in range(self.random.randint(1, 4))]
        return self.split("input", name + (" @oneOf" if one_of else ""), fields)

    def value(self, name, owner, one_of=False):
        """An input field, which may need only input objects made before its own."""
        type_ = self.input_type(before=owner)
        if one_of and not self.chance(self.wild):
            return f"{name}: " + type_.rstrip("!")
        default = self.default(type_)
        deprecated = self.deprecated() if not type_.endswith("!") or default or self.chance(self.wild) else ""
        return f"{name}: {type_}{default}{deprecated}" + self.applied("INPUT_FIELD_DEFINITION")

    def default(self, type_):
        return f" = {self.literal(type_)}" if self.chance(0.35) and type_.strip("[]!")[0] != "I" else (
            " = 3" if type_.startswith("Int") and self.chance(0.5) else "")

    def literal(self, type_):
        if type_.endswith("!"):
            return self.literal(type_[:-1])
        if self.chance(self.wild):
            return self.random.choice(["null", "NOPE", '"x"', "1.5", "[]", "{}"])
        if type_.startswith("["):
            return "[" + ", ".join(self.literal(type_[1:-1]) for _ in range(self.random.randint(0, 2))) + "]"
        if type_ in self.enums:
            return self.random.choice(self.enums[type_])
        return self.random.choice(LITERALS.get(type_, ["1", '"any"']))

    def input_type(self, before=None):
        pool = BUILT_IN + self.scalars + list(self.enums)
        if self.chance(0.35):
            name = self.random.choice(self.inputs)
            if before and name >= before:
                return self.random.choice([name, f"[{name}!]", f"[{name}]!"])
            return self.wrapped(name)
        return self.wrapped(self.wrong(self.random.choice(pool), self.objects))

    def output_type(self):
        pool = BUILT_IN + self.scalars + list(self.enums) + (self.interfaces + self.objects + self.unions) * 2
        return self.wrapped(self.wrong(self.random.choice(pool), self.inputs))

    def wrong(self, name, others):
        return self.random.choice(others + ["Nope", "Strin", name + "x"]) if self.chance(self.wild) else name

    def wrapped(self, name):
        return self.random.choice(["{}", "{}", "{}", "{}!", "[{}]", "[{}!]", "[{}]!", "[{}!]!", "[[{}]]"]).format(name)

    def deprecated(self):
        return self.random.choice([" @deprecated", ' @deprecated(reason: "old")']) if self.chance(0.12) else ""

    def arguments(self, owner, plain=False):
        count = self.random.choice([0, 0, 1, 2, 3])
        texts = []
        for number in range(count):
            type_ = self.wrapped(self.random.choice(BUILT_IN)).rstrip("!") if plain else self.input_type()
            default = self.default(type_)
            deprecated = self.deprecated() if not plain and (not type_.endswith("!") or default) else ""
            applied = "" if plain else self.applied("ARGUMENT_DEFINITION")
            texts.append(f"a{number}: {type_}{default}{deprecated}{applied}")
        if texts and self.chance(self.wild):
            texts.append(texts[0])
        return "(" + " ".join(texts) + ")" if texts else ""

    def composite(self, keyword, name):
        own = []
        if keyword == "type":
            own = [other for other in self.interfaces if self.chance(0.3)]
        elif name != "N0" and self.chance(0.5):
            own = ["N0"]
        ancestors = list(dict.fromkeys(own + [a for other in own for a in self.ancestors.get(other, [])]))
        fields = {}
        for ancestor in ancestors:
            fields |= {key: text for key, text in self.fields.get(ancestor, {}).items() if not self.chance(self.wild)}
        for number in range(self.random.randint(1, 4)):
            key = f"{name.lower()}f{number}"
            deprecated = self.deprecated() if keyword == "type" else ""
            fields[key] = f"{key}{self.arguments(name)}: {self.output_type()}{deprecated}" + self.applied("FIELD_DEFINITION")
        self.ancestors[name], self.fields[name] = ancestors, fields
        shown = [a for a in ancestors if not self.chance(self.wild)]
        head = name + (" implements " + " & ".join(shown) if shown else "") + (self.applied("OBJECT") if keyword == "type" else "")
        return self.split(keyword, head, list(fields.values()))

    def split(self, keyword, head, members):
        """The definition, sometimes with its last members in an extension."""
        if self.chance(self.wild / 2):
            members = members + members[:1]
        if len(members) > 1 and self.chance(0.2):
            bare = head.split()[0]
            last = members.pop()
            return f"{keyword} {head} {{ {' '.join(members)} }}\nextend {keyword} {bare} {{ {last} }}"
        return f"{keyword} {head} {{ {' '.join(members)} }}"

    def union(self, name):
        members = self.random.sample(self.objects, self.random.randint(1, len(self.objects)))
        if self.chance(self.wild):
            members.append(self.random.choice(members + self.interfaces + ["Nope"]))
        return f"union {name} = " + " | ".join(members)
