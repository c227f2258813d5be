package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"portcullis.dev/portcullis"
)

// How many units are proposed for one that is not known.
const proposals = 3

// find returns the unit of a symbol or a name. A symbol is first sought as it is written, since MB is not Mb, and then
// in any case; a name in the plural too.
func find(word string) (unit, error) {
	word = strings.TrimSpace(word)
	if unit, found := match(func(known string) bool { return known == word }); found {
		return unit, nil
	}
	lower := strings.ToLower(word)
	if unit, found := match(func(known string) bool { return strings.ToLower(known) == lower }); found {
		return unit, nil
	}
	singular := strings.TrimSuffix(lower, "s")
	// Symbols have no plural: "ms" is no "m".
	if utf8.RuneCountInString(singular) > 2 {
		if unit, found := match(func(known string) bool { return strings.ToLower(known) == singular }); found {
			return unit, nil
		}
	}
	return unit{}, portcullis.InvalidArguments(fmt.Sprintf(
		"there is no unit %q; near it are %s, and the tool list has all", word, strings.Join(near(lower), ", "),
	))
}

func match(is func(word string) bool) (unit, bool) {
	for _, unit := range units {
		if slices.ContainsFunc(unit.words(), is) {
			return unit, true
		}
	}
	return unit{}, false
}

// near returns the words of the units that take the fewest changes to become a word.
func near(word string) []string {
	type candidate struct {
		word  string
		steps int
	}
	var candidates []candidate
	for _, unit := range units {
		best := candidate{steps: len(word) + len(unit.symbol) + 1}
		for _, known := range unit.words() {
			if steps := distance(word, strings.ToLower(known)); steps < best.steps {
				best = candidate{known, steps}
			}
		}
		candidates = append(candidates, best)
	}
	slices.SortStableFunc(candidates, func(one, other candidate) int { return cmp.Compare(one.steps, other.steps) })
	var words []string
	for _, candidate := range candidates[:proposals] {
		words = append(words, candidate.word)
	}
	return words
}

// distance is that of Levenshtein: how many letters are put in, left out or exchanged.
func distance(from, to string) int {
	source, target := []rune(from), []rune(to)
	row := make([]int, len(target)+1)
	for column := range row {
		row[column] = column
	}
	for line, letter := range source {
		diagonal := row[0]
		row[0] = line + 1
		for column, other := range target {
			change := diagonal
			if letter != other {
				change++
			}
			diagonal = row[column+1]
			row[column+1] = min(change, row[column]+1, row[column+1]+1)
		}
	}
	return row[len(target)]
}
