use std::io::{self, Read};

mod report;

fn main() -> Result<(), Error> {
    let mut input = String::new();
    io::stdin().read_to_string(&mut input)?;
    let n = parse(&input)?;
    println!("{n}");
    Ok(())
}

fn parse(input: &str) -> Result<u64, Error> {
    input.trim().parse().map_err(Error::Number)
}
