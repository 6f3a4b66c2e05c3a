// As much of rustpython-parser as the crate tool-parser names. It reads no Python: the parser of Pythonic calls says so.
pub enum Mode {
    Expression,
}

pub fn parse(_: &str, _: Mode, _: &str) -> Result<ast::Mod, String> {
    Err("this stand-in reads no Python".to_string())
}

pub mod ast {
    #[derive(Debug, Clone)]
    pub enum Mod {
        Expression(ModExpression),
        Other,
    }

    #[derive(Debug, Clone)]
    pub struct ModExpression {
        pub body: Box<Expr>,
    }

    #[derive(Debug, Clone)]
    pub enum Expr {
        Call(Call),
        Name(Name),
        Constant(ConstantExpr),
        List(Elements),
        Tuple(Elements),
        Dict(Dict),
        UnaryOp(Unary),
        Other,
    }

    #[derive(Debug, Clone)]
    pub struct Call {
        pub func: Box<Expr>,
        pub args: Vec<Expr>,
        pub keywords: Vec<Keyword>,
    }

    #[derive(Debug, Clone)]
    pub struct Keyword {
        pub arg: Option<String>,
        pub value: Expr,
    }

    #[derive(Debug, Clone)]
    pub struct Name {
        pub id: String,
    }

    #[derive(Debug, Clone)]
    pub struct ConstantExpr {
        pub value: Constant,
    }

    #[derive(Debug, Clone)]
    pub struct Elements {
        pub elts: Vec<Expr>,
    }

    #[derive(Debug, Clone)]
    pub struct Dict {
        pub keys: Vec<Option<Expr>>,
        pub values: Vec<Expr>,
    }

    #[derive(Debug, Clone)]
    pub struct Unary {
        pub op: UnaryOp,
        pub operand: Box<Expr>,
    }

    #[derive(Debug, Clone)]
    pub enum UnaryOp {
        USub,
        UAdd,
        Other,
    }

    #[derive(Debug, Clone)]
    pub enum Constant {
        None,
        Bool(bool),
        Int(i64),
        Float(f64),
        Str(String),
        Bytes(Vec<u8>),
        Tuple(Vec<Constant>),
        Ellipsis,
        Complex { real: f64, imag: f64 },
    }
}
